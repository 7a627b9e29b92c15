import type { ThreadItem } from './gateway'
import type { Item, Latency, WireEvent } from './wire'

export type Speaker = 'person' | 'assistant' | 'tool'

/** One line of the talk. */
export interface Caption {
  id: string
  speaker: Speaker
  /** How it came into the talk. */
  by: 'voice' | 'text'
  text: string
  /** No more words will come. */
  final: boolean
  /** How much of `text`, in characters from its start, reached the person's ear; null when the gateway has not said. */
  heard: number | null
  /** The rest after `heard` will never be heard: the person cut in. */
  interrupted: boolean
  /** While it is being spoken: at that moment the voice was at this character. Null before and after. */
  voice: { at: number; from: number } | null
  /** The person's words could not be written down. */
  failed: boolean
  /** BCP 47, guessed where nobody said. */
  language: string
  /** For a tool line: the call's id. */
  callId: string | null
  responseId: string | null
  turn: Turn | null
}

/** Characters a second of an even voice. */
const pace = 15

export interface Turn {
  id: string
  mode: string
  outcome: string
  latency: Latency
  interruptedAfter: number | null
}

/**
 * The words of both sides, in the order of the conversation's items and not of their arrival: a person's transcript may come long
 * after the answer has begun. `apply` returns the lines that an event changed.
 */
export class Captions {
  readonly lines: Caption[] = []
  #byId = new Map<string, Caption>()
  #aliases = new Map<string, string>() // items that are no lines (instructions, tool outputs) → the line before them
  #heard = new Map<string, string>() // the heard prefix as the gateway told it; the words may still be on their way
  #uncommitted = new Set<string>() // speech that a cleared buffer takes away
  #speaking: { response: string; at: number } | null = null // the voice of a response whose words are not here yet
  #language: string

  constructor(
    language = 'en',
    private readonly now: () => number = () => performance.now(),
  ) {
    this.#language = language
  }

  get(id: string): Caption | undefined {
    return this.#byId.get(id)
  }

  clear(): void {
    this.lines.length = 0
    this.#byId.clear()
    this.#aliases.clear()
    this.#heard.clear()
    this.#uncommitted.clear()
  }

  /** Puts words of earlier calls before everything else. Returns the lines that came. */
  restore(items: readonly ThreadItem[]): Caption[] {
    const before = this.lines.length
    for (const item of items) {
      if ((item.role !== 'user' && item.role !== 'assistant') || !item.text || this.#byId.has(item.id)) continue
      const line = this.#place(item.id, item.role === 'user' ? 'person' : 'assistant', undefined)
      line.by = item.kind === 'typed' ? 'text' : 'voice'
      line.text = item.text
      line.final = true
      line.interrupted = line.speaker === 'assistant' && item.complete === false
      line.language = guessLanguage(line.text, this.#language)
    }
    const came = this.lines.splice(before)
    this.lines.unshift(...came)
    return came
  }

  /** How much of a line, in characters from its start and to the end of a word, has been spoken by now: a guess by the time. */
  spoken(line: Caption): number {
    const { voice, text } = line
    if (!voice) return text.length
    const n = Math.max(0, Math.floor(voice.from + ((this.now() - voice.at) / 1_000) * pace))
    const end = n < text.length ? text.slice(n).search(/\s/) : -1
    return end < 0 ? text.length : n + end
  }

  /** Nothing sounds any more. Returns the lines that this changed. */
  hush(response?: string): Caption[] {
    if (!response || this.#speaking?.response === response) this.#speaking = null
    const lines = this.lines.filter((l) => l.voice && (!response || l.responseId === response))
    for (const line of lines) line.voice = null
    return lines
  }

  #voice(line: Caption): void {
    if (this.#speaking === null || line.voice || line.responseId !== this.#speaking.response) return
    line.voice = { at: this.#speaking.at, from: 0 }
    this.#speaking = null
  }

  apply(e: WireEvent): Caption[] {
    const changed = this.#apply(e)
    const lines = changed === null ? [] : Array.isArray(changed) ? changed : [changed]
    for (const line of lines) {
      const heard = this.#heard.get(line.id)
      if (line.speaker === 'assistant') this.#voice(line)
      if (heard !== undefined) line.heard = heardLength(line.text, heard)
    }
    return lines
  }

  #apply(e: WireEvent): Caption | Caption[] | null {
    switch (e.type) {
      case 'hovor.call':
        if (e.language) this.#language = e.language
        return null

      case 'input_audio_buffer.speech_started':
      case 'input_audio_buffer.committed':
        if (!e.item_id) return null
        if (e.type === 'input_audio_buffer.committed') this.#uncommitted.delete(e.item_id)
        else if (!this.#byId.has(e.item_id)) this.#uncommitted.add(e.item_id)
        return this.#place(e.item_id, 'person', e.previous_item_id)

      case 'input_audio_buffer.cleared': {
        const gone = [...this.#uncommitted].flatMap((id) => this.#byId.get(id) ?? [])
        this.#uncommitted.clear()
        for (const line of gone) this.#remove(line)
        return gone
      }

      case 'conversation.item.added':
      case 'conversation.item.created':
      case 'conversation.item.retrieved':
        return e.item ? this.#item(e.item, e.previous_item_id) : null
      case 'conversation.item.done': {
        const line = e.item ? this.#item(e.item, e.previous_item_id) : null
        // A spoken user item is done before its words are known.
        if (line && !(line.speaker === 'person' && line.by === 'voice')) line.final = true
        return line
      }
      case 'response.output_item.added':
      case 'response.output_item.done': {
        const line = e.item ? this.#item(e.item, undefined) : null
        if (line) line.responseId = e.response_id ?? line.responseId
        return line
      }
      case 'conversation.item.deleted': {
        const line = this.#byId.get(e.item_id ?? '')
        if (line) this.#remove(line)
        return line ?? null
      }

      case 'conversation.item.input_audio_transcription.delta':
        return this.#words(e.item_id, 'person', (line) => {
          if (!line.final) line.text += e.delta ?? ''
        })
      case 'conversation.item.input_audio_transcription.completed':
        return this.#words(e.item_id, 'person', (line) => {
          line.text = (e.transcript ?? '').trim()
          line.final = true
          line.language = e.languages?.[0] ?? guessLanguage(line.text, this.#language)
        })
      case 'conversation.item.input_audio_transcription.failed':
        return this.#words(e.item_id, 'person', (line) => {
          line.failed = true
          line.final = true
        })

      case 'response.output_audio_transcript.delta':
      case 'response.output_text.delta':
        return this.#words(e.item_id, 'assistant', (line) => {
          line.responseId = e.response_id ?? line.responseId
          if (line.final) return
          line.text += e.delta ?? ''
          line.language = guessLanguage(line.text, this.#language)
        })
      case 'response.output_audio_transcript.done':
      case 'response.output_text.done':
        return this.#words(e.item_id, 'assistant', (line) => {
          line.responseId = e.response_id ?? line.responseId
          line.text = e.transcript ?? e.text ?? line.text
          line.final = true
          line.language = guessLanguage(line.text, this.#language)
        })

      case 'output_audio_buffer.started': {
        if (!e.response_id) return null
        this.#speaking = { response: e.response_id, at: this.now() }
        return this.lines.filter((l) => l.responseId === e.response_id && l.speaker === 'assistant').slice(0, 1)
      }
      case 'response.done':
      case 'output_audio_buffer.stopped':
      case 'output_audio_buffer.cleared': {
        const response = e.response?.id ?? e.response_id
        if (e.type !== 'response.done') this.hush(response)
        const cut = e.type === 'output_audio_buffer.cleared' || e.response?.status === 'cancelled'
        const lines = this.lines.filter((l) => l.responseId === response && l.speaker === 'assistant')
        for (const line of lines) {
          if (e.type === 'response.done') line.final = true
          if (cut) line.interrupted = true
        }
        return lines
      }
      case 'conversation.item.truncated':
        return this.#known(e.item_id, (line) => {
          line.interrupted = true
          line.final = true
        })
      case 'hovor.heard':
        return this.#known(e.item_id, (line) => {
          this.#heard.set(line.id, e.text ?? '')
          if (line.voice) line.voice = e.complete ? null : { at: this.now(), from: heardLength(line.text, e.text ?? '') }
          if (e.complete) line.interrupted = false
        })
      case 'hovor.turn': {
        const last = this.lines.find((l) => l.turn?.id === e.turn_id) ?? this.#lastAnswer()
        if (!last) return null
        last.turn = {
          id: e.turn_id ?? '',
          mode: e.mode ?? '',
          outcome: e.outcome ?? '',
          latency: e.latency_ms ?? {},
          interruptedAfter: e.interrupted_after_ms ?? null,
        }
        if (e.outcome === 'interrupted') last.interrupted = true
        return last
      }
    }
    return null
  }

  /** The newest answer without a turn's figures; an answer that follows a tool belongs to the same turn and keeps the last word. */
  #lastAnswer(): Caption | undefined {
    for (let i = this.lines.length - 1; i >= 0; i--) {
      const line = this.lines[i]!
      if (line.speaker === 'assistant') return line.turn ? undefined : line
    }
    return undefined
  }

  #item(item: Item, previous: string | null | undefined): Caption | null {
    if (!item.id) return null
    this.#uncommitted.delete(item.id)
    if (item.type === 'function_call') {
      const line = this.#place(item.id, 'tool', previous)
      line.callId = item.call_id ?? null
      line.text = item.name ?? ''
      return line
    }
    if (item.type !== 'message' || (item.role !== 'user' && item.role !== 'assistant')) {
      if (previous) this.#aliases.set(item.id, previous)
      return null
    }
    const line = this.#place(item.id, item.role === 'user' ? 'person' : 'assistant', previous)
    for (const part of item.content ?? []) {
      if (part.type === 'input_text' || part.type === 'output_text' || part.type === 'text') {
        line.by = 'text'
        if (part.text) line.text = part.text
        if (item.role === 'user') line.final = true
      } else if (part.transcript && (item.status !== 'in_progress' || !line.text)) {
        line.text = part.transcript
        line.final ||= item.role === 'user'
      }
    }
    if (line.text) line.language = guessLanguage(line.text, this.#language)
    return line
  }

  #words(id: string | undefined, speaker: Speaker, change: (line: Caption) => void): Caption | null {
    if (!id) return null
    const line = this.#byId.get(id) ?? this.#place(id, speaker, undefined)
    change(line)
    return line
  }

  #known(id: string | undefined, change: (line: Caption) => void): Caption | null {
    const line = this.#byId.get(id ?? '')
    if (line) change(line)
    return line ?? null
  }

  /** Finds or makes the line of an item, and puts it after its predecessor as soon as that is known. */
  #place(id: string, speaker: Speaker, previous: string | null | undefined): Caption {
    let line = this.#byId.get(id)
    if (!line) {
      line = {
        id,
        speaker,
        by: 'voice',
        text: '',
        final: false,
        heard: null,
        interrupted: false,
        voice: null,
        failed: false,
        language: this.#language,
        callId: null,
        responseId: null,
        turn: null,
      }
      this.#byId.set(id, line)
      this.lines.push(line)
    }
    if (previous === 'root') {
      this.#move(line, 0)
    } else if (previous) {
      const before = this.#resolve(previous)
      if (before && before !== line) {
        const at = this.lines.indexOf(before)
        if (this.lines[at + 1] !== line) this.#move(line, this.lines.indexOf(line) < at ? at : at + 1)
      }
    }
    return line
  }

  #remove(line: Caption): void {
    this.#byId.delete(line.id)
    this.lines.splice(this.lines.indexOf(line), 1)
  }

  #resolve(id: string): Caption | undefined {
    for (let i = 0; i < 64; i++) {
      const line = this.#byId.get(id)
      if (line) return line
      const next = this.#aliases.get(id)
      if (!next) return undefined
      id = next
    }
    return undefined
  }

  #move(line: Caption, to: number): void {
    this.lines.splice(this.lines.indexOf(line), 1)
    this.lines.splice(to, 0, line)
  }
}

/** How many characters of `text` the heard prefix covers; spaces may differ between the two. */
export function heardLength(text: string, heard: string): number {
  let i = 0
  for (const c of heard) {
    if (/\s/.test(c)) continue
    while (i < text.length && /\s/.test(text[i]!)) i++
    if (i >= text.length) break
    i += c.length
  }
  return Math.min(i, text.length)
}

const words: Record<string, RegExp> = {
  cs: /[ěřůťďň]|(^|\s)(a|je|se|to|na|že|ahoj|dokument|otevři|prosím|který|jsem)(?=[\s.,!?]|$)/gi,
  de: /[äöüß]|(^|\s)(und|der|die|das|ist|nicht|ich|bitte|ein|eine|öffne|hallo)(?=[\s.,!?]|$)/gi,
  en: /(^|\s)(the|and|is|of|to|i|you|please|open|what|hello|it)(?=[\s.,!?]|$)/gi,
}

/** A guess good enough to pick a voice for a screen reader and the hyphenation; never used for anything else. */
export function guessLanguage(text: string, fallback: string): string {
  if (/[\u0400-\u04ff]/.test(text)) return 'ru'
  let best = fallback
  let most = 0
  for (const [language, pattern] of Object.entries(words)) {
    const n = text.match(pattern)?.length ?? 0
    if (n > most) {
      most = n
      best = language
    }
  }
  return best
}
