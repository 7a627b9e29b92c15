import { Emitter } from './emitter'
import type { Gateway } from './gateway'
import { GatewayError } from './gateway'
import { parseEvent, type WireEvent } from './wire'

export type CallEnd = 'closed' | 'lost'

interface CallEvents {
  event: WireEvent
  stream: MediaStream
  /** The network to the gateway stumbles (true) or has recovered (false). */
  shaky: boolean
  end: CallEnd
}

/** How long ICE may stay `disconnected` before the call counts as lost. It often recovers by itself. */
const patience = 5_000
/** How long an opened call may take to its data channel. */
const setupLimit = 15_000
/** How long the gateway's answer to a hangup is waited for. */
const farewell = 1_000

/** One WebRTC call: a peer connection, one audio track each way, and the data channel "oai-events". It is used once. */
export class Call extends Emitter<CallEvents> {
  readonly pc = new RTCPeerConnection()
  readonly #channel = this.pc.createDataChannel('oai-events')
  readonly #audio = this.pc.addTransceiver('audio', { direction: 'sendrecv' })
  #id = ''
  #over = false
  #patience: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly gateway: Gateway) {
    super()
    this.#channel.onmessage = (m) => {
      const event = parseEvent(m.data)
      if (event) this.emit('event', event)
    }
    this.#channel.onclose = () => this.#end('lost')
    this.pc.ontrack = (e) => this.emit('stream', e.streams[0] ?? new MediaStream([e.track]))
    this.pc.onconnectionstatechange = () => this.#watch()
  }

  get id(): string {
    return this.#id
  }

  get open(): boolean {
    return this.#channel.readyState === 'open'
  }

  /** Mints a secret, exchanges SDP and waits for the data channel. Rejects with GatewayError; `signal` gives up. */
  async start(model: string, threadId: string | null, track: MediaStreamTrack | null, signal: AbortSignal): Promise<void> {
    if (track) await this.#audio.sender.replaceTrack(track)
    const ready = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new GatewayError(0, 'no_media', 'the media path to the gateway did not come up')), setupLimit)
      this.#channel.onopen = () => {
        clearTimeout(timer)
        resolve()
      }
      this.on('end', () => {
        clearTimeout(timer)
        reject(new GatewayError(0, 'no_media', 'the media path to the gateway did not come up'))
      })
    })
    const giveUp = () => this.close()
    signal.addEventListener('abort', giveUp)
    ready.catch(() => {}) // it may fail while nobody waits for it yet
    try {
      const [secret, offer] = await Promise.all([this.gateway.mint(model, threadId, signal), this.pc.createOffer()])
      await this.pc.setLocalDescription(offer)
      // No waiting for candidates: the gateway's are all in its answer, and it learns ours from our checks.
      const { answer, callId } = await this.gateway.open(secret.value, this.pc.localDescription?.sdp ?? offer.sdp ?? '', signal)
      this.#id = callId
      if (this.#over) throw new GatewayError(0, 'closed', 'the call was given up')
      await this.pc.setRemoteDescription({ type: 'answer', sdp: answer })
      await ready
    } catch (err) {
      this.close()
      throw err
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  send(event: object): boolean {
    if (!this.open) return false
    this.#channel.send(JSON.stringify(event))
    return true
  }

  /** Changes what is sent without a new negotiation; null sends nothing. */
  async setTrack(track: MediaStreamTrack | null): Promise<void> {
    if (!this.#over) await this.#audio.sender.replaceTrack(track)
  }

  /**
   * Ends the call on both sides. The page falls silent both ways at once; the peer connection waits until the gateway has been told,
   * else its end would come first and read as a page that went away.
   */
  close(): void {
    if (this.#over) return
    if (!this.#id) return this.#end('closed')
    for (const { receiver, sender } of this.pc.getTransceivers()) {
      receiver.track.enabled = false
      void sender.replaceTrack(null).catch(() => {})
    }
    const told = this.gateway.hangup(this.#id).catch(() => {})
    this.#end('closed', Promise.race([told, new Promise((resolve) => setTimeout(resolve, farewell))]))
  }

  #watch(): void {
    const state = this.pc.connectionState
    clearTimeout(this.#patience)
    if (state === 'disconnected') {
      this.emit('shaky', true)
      this.#patience = setTimeout(() => this.#end('lost'), patience)
    } else if (state === 'failed' || state === 'closed') {
      this.#end('lost')
    } else if (state === 'connected') {
      this.emit('shaky', false)
    }
  }

  #end(how: CallEnd, before?: Promise<unknown>): void {
    if (this.#over) return
    this.#over = true
    clearTimeout(this.#patience)
    this.#channel.onmessage = this.#channel.onclose = this.#channel.onopen = null
    this.pc.ontrack = this.pc.onconnectionstatechange = null
    if (before) void before.then(() => this.pc.close())
    else this.pc.close()
    this.emit('end', how)
  }
}
