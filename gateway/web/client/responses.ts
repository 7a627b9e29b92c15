import type { WireEvent } from './wire'

/**
 * Knows whether a response runs and whether it can be heard, and keeps `response.create` to one at a time: the next waits for
 * `response.done`.
 */
export class Responses {
  #active = new Set<string>()
  #audible = new Set<string>()
  #asked = false // response.create sent, response.created not seen yet
  #wanted = false
  #held = false // push-to-talk is pressed: nobody starts an answer into it

  constructor(private readonly send: (event: object) => void) {}

  get running(): boolean {
    return this.#asked || this.#active.size > 0
  }

  get audible(): boolean {
    return this.#audible.size > 0
  }

  /** Asks for a response now, or as soon as the running one has ended. Several wishes made meanwhile are one. */
  create(): void {
    this.#wanted = true
    this.#next()
  }

  /** Silences the assistant: cancels what runs, clears what is still to be heard, and forgets what was to be asked for. */
  interrupt(): void {
    this.#wanted = false
    if (this.running) this.send({ type: 'response.cancel' })
    if (this.running || this.audible) this.send({ type: 'output_audio_buffer.clear' })
  }

  hold(on: boolean): void {
    this.#held = on
    this.#next()
  }

  apply(e: WireEvent): void {
    switch (e.type) {
      case 'response.created':
        this.#asked = false
        if (e.response?.id) this.#active.add(e.response.id)
        break
      case 'response.done':
        this.#asked = false
        if (e.response?.id) this.#active.delete(e.response.id)
        else this.#active.clear()
        this.#next()
        break
      case 'output_audio_buffer.started':
        this.#audible.add(e.response_id ?? '')
        break
      case 'output_audio_buffer.stopped':
      case 'output_audio_buffer.cleared':
        if (e.response_id) this.#audible.delete(e.response_id)
        else this.#audible.clear()
        break
      case 'error':
        // The wish was made into a running response: it stands, and waits for that one's end.
        if (e.error?.code === 'conversation_already_has_active_response') {
          this.#asked = false
          this.#wanted = true
        } else if (this.#asked && e.error?.event_id?.startsWith('talk_response_')) {
          this.#asked = false
        }
        break
    }
  }

  #count = 0
  #next(): void {
    if (!this.#wanted || this.#held || this.running) return
    this.#wanted = false
    this.#asked = true
    this.send({ type: 'response.create', event_id: `talk_response_${++this.#count}` })
  }
}
