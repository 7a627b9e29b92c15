import { Call, type CallEnd } from './call'
import { Captions, type Caption, type Turn } from './captions'
import { Emitter } from './emitter'
import { Gateway, GatewayError } from './gateway'
import { Hold, type Release } from './hold'
import { MicError, openMicrophone, type MicProblem } from './microphone'
import { Responses } from './responses'
import { Screens, type Performer } from './screen'
import { ToolRuns, type ToolRun } from './tools'
import { isTalkState, type TalkState, type TurnDetection, type WireEvent } from './wire'

export type Phase = 'idle' | 'connecting' | 'live' | 'reconnecting' | 'ended'
export type Mode = 'open' | 'ptt'

/** Why there is no call any more, in the gateway's words where it gave them. */
export interface Ended {
  reason: string
  message: string
}

export interface TalkOptions {
  /** Origin of the gateway, "" for the page's own. */
  base?: string
  bearer: string
  model?: string
  perform?: Performer
  /** A thread of earlier calls to go on with; `restore` shows what was said on it. */
  threadId?: string | null
}

/** What the person should know at a glance; a new object whenever any of it changes. */
export interface Snapshot {
  phase: Phase
  state: TalkState
  mode: Mode
  muted: boolean
  held: boolean
  /** The person's words leave the page right now. */
  micOpen: boolean
  mic: 'none' | 'asking' | 'ready' | 'silent'
  micProblem: MicProblem | null
  shaky: boolean
  provider: { state: string; message: string } | null
  ended: Ended | null
  callId: string
  threadId: string | null
  personName: string
  audioPath: string
}

interface TalkEvents {
  change: Snapshot
  captions: Caption[]
  tool: ToolRun
  turn: Turn
  event: WireEvent
  /** The far side's audio, to be played by a media element. */
  stream: MediaStream
  microphone: MediaStreamTrack | null
  hint: 'hold_longer' | 'mic_lost' | 'mic_back'
}

/** Words are often still on the lips when the finger lifts: the microphone stays open this long after a release by the person. */
const tail = 80
/** From release to commit: the last sound needs this long through the encoder and the network. */
const commitAfter = 200
/** A shorter press is a slip, not speech; servers refuse less than 100 ms. */
const shortest = 150
/** After thinking, listening is told when it has lasted this long. */
const settle = 150
/** Nobody holds this long on purpose. */
const longest = 120_000
/** Waits before each new try after a lost connection. */
const retries = [300, 1_500, 4_000]

/** A talk of one person: calls that follow one another on one thread, the microphone, and everything said. */
export class Talk extends Emitter<TalkEvents> {
  readonly gateway: Gateway
  readonly captions = new Captions()
  readonly tools: ToolRuns
  readonly hold: Hold
  readonly #responses: Responses
  readonly #screens: Screens | null
  readonly #model: string
  #call: Call | null = null
  #attempt: AbortController | null = null
  #track: MediaStreamTrack | null = null
  #silence: { track: MediaStreamTrack; close: () => void } | null = null
  #turnDetection: TurnDetection = { type: 'server_vad' }
  #stateTold = false
  #holdStarted = 0
  #tail: ReturnType<typeof setTimeout> | undefined
  #commit: ReturnType<typeof setTimeout> | undefined
  #settling: ReturnType<typeof setTimeout> | undefined
  #watchdog: ReturnType<typeof setTimeout> | undefined
  #playout: ReturnType<typeof setInterval> | undefined
  #tries = 0
  #now: Snapshot = {
    phase: 'idle',
    state: 'ended',
    mode: 'open',
    muted: false,
    held: false,
    micOpen: false,
    mic: 'none',
    micProblem: null,
    shaky: false,
    provider: null,
    ended: null,
    callId: '',
    threadId: null,
    personName: '',
    audioPath: '',
  }

  constructor(options: TalkOptions) {
    super()
    this.gateway = new Gateway(options.base ?? '', () => options.bearer)
    this.#now.threadId = options.threadId ?? null
    this.#model = options.model ?? 'gpt-realtime'
    this.#responses = new Responses((e) => this.send(e))
    this.#screens = options.perform ? new Screens(this.gateway, () => this.#call?.id ?? '', options.perform) : null
    this.tools = new ToolRuns(this.gateway, {
      send: (e) => this.send(e),
      respond: () => this.#responses.create(),
      session: () => this.#call?.id ?? '',
      changed: (run) => this.emit('tool', run),
    })
    this.gateway.classes().then(
      (classes) => this.tools.setClasses(classes),
      () => {}, // the list then goes without
    )
    this.hold = new Hold(
      () => this.#press(),
      (why) => this.#release(why),
    )
  }

  get snapshot(): Snapshot {
    return this.#now
  }

  get track(): MediaStreamTrack | null {
    return this.#track
  }

  /** The peer connection of the running call, for its statistics. */
  get connection(): RTCPeerConnection | null {
    return this.#call?.pc ?? null
  }

  /** Shows again what was said on the talk's thread. A thread that is gone, or has no words, is none to go on with. */
  async restore(): Promise<void> {
    const id = this.#now.threadId
    if (!id) return
    const items = await this.gateway.thread(id)
    if (this.#now.threadId !== id) return
    if (!items?.length) {
      if (this.#now.phase === 'idle') this.#update({ threadId: null })
      return
    }
    const came = this.captions.restore(items)
    this.emit('captions', came)
    this.emit('change', this.#now)
  }

  /**
   * Opens a call, on the talk's thread if it has one. With `microphone` it asks for one first; without one, or when there is none to
   * be had, the talk goes on in writing and the answer can still be heard.
   */
  async start(options: { microphone: boolean }): Promise<void> {
    if (this.#now.phase === 'connecting' || this.#now.phase === 'live' || this.#now.phase === 'reconnecting') return
    const attempt = (this.#attempt = new AbortController())
    this.#tries = 0
    this.#update({ phase: 'connecting', ended: null, provider: null })
    if (options.microphone && !this.#track && !(await this.#openMicrophone())) {
      if (!attempt.signal.aborted) this.#update({ phase: this.captions.lines.length ? 'ended' : 'idle' })
      return
    }
    if (attempt.signal.aborted) return
    await this.#connect(attempt)
  }

  /** Asks for the microphone during a call that began without one, or again after a refusal. */
  async useMicrophone(): Promise<boolean> {
    if (!(await this.#openMicrophone())) return false
    await this.#call?.setTrack(this.#track)
    return true
  }

  /** Ends the call for good. The words stay. */
  hangup(): void {
    this.#finish({ reason: 'hangup', message: '' })
  }

  /** For a page that goes away. */
  leave(): void {
    this.#finish({ reason: 'hangup', message: '' })
  }

  setMuted(muted: boolean): void {
    this.#update({ muted })
  }

  setMode(mode: Mode): void {
    if (mode === this.#now.mode) return
    this.hold.releaseAll('mode')
    this.#flush()
    this.#update({ mode })
    if (this.#now.phase === 'live') this.#sendMode()
  }

  /** Says something in writing, in the same thread. It interrupts, as speaking does. */
  say(text: string): boolean {
    const words = text.trim()
    if (!words || !this.#call?.open) return false
    this.#responses.interrupt()
    this.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: words }] } })
    this.#responses.create()
    return true
  }

  /** Falls silent, without a word from the person. */
  interrupt(): void {
    this.#responses.interrupt()
  }

  send(event: object): boolean {
    return this.#call?.send(event) ?? false
  }

  // ── the microphone ──

  async #openMicrophone(): Promise<boolean> {
    this.#update({ mic: 'asking', micProblem: null })
    try {
      const track = await openMicrophone()
      this.#setTrack(track)
      this.#update({ mic: 'ready' })
      return true
    } catch (err) {
      this.#update({ mic: 'none', micProblem: err instanceof MicError ? err.problem : 'unknown' })
      return false
    }
  }

  #setTrack(track: MediaStreamTrack | null): void {
    if (this.#track) {
      this.#track.onended = null
      this.#track.stop()
    }
    this.#track = track
    if (track) {
      track.enabled = false
      track.onended = () => void this.#lostMicrophone()
    }
    this.emit('microphone', track)
    this.#gate()
  }

  /** The device went away: what was held is let go, another device is tried, and the person is told either way. */
  async #lostMicrophone(): Promise<void> {
    this.hold.releaseAll('device')
    this.#setTrack(null)
    this.#update({ mic: 'none' })
    await this.#call?.setTrack(this.#silent())
    this.emit('hint', 'mic_lost')
    if (this.#now.phase === 'live' && (await this.useMicrophone())) this.emit('hint', 'mic_back')
  }

  /** A track of silence, so that the call has a running audio line before there is a microphone. */
  #silent(): MediaStreamTrack | null {
    if (this.#silence) return this.#silence.track
    try {
      const context = new AudioContext()
      const track = context.createMediaStreamDestination().stream.getAudioTracks()[0]
      if (!track) return null
      void context.resume().catch(() => {})
      this.#silence = { track, close: () => void context.close().catch(() => {}) }
      return track
    } catch {
      return null
    }
  }

  /** The only place where the microphone opens and closes. */
  #gate(): void {
    const s = this.#now
    const open = this.#track !== null && s.phase === 'live' && (s.mode === 'ptt' ? s.held || this.#tail !== undefined : !s.muted)
    if (this.#track) this.#track.enabled = open
    if (open !== s.micOpen) {
      this.#now = { ...s, micOpen: open }
      this.emit('change', this.#now)
    }
  }

  // ── push-to-talk ──

  #press(): void {
    if (this.#now.phase !== 'live' || !this.#call?.open) return
    const resumed = this.#commit !== undefined // let go for a blink: the same turn goes on
    clearTimeout(this.#tail)
    clearTimeout(this.#commit)
    this.#tail = this.#commit = undefined
    if (!resumed) {
      this.#holdStarted = performance.now()
      this.#responses.hold(true)
      this.#responses.interrupt()
      this.send({ type: 'input_audio_buffer.clear' })
    }
    this.#watchdog = setTimeout(() => this.hold.releaseAll('limit'), longest)
    this.#update({ held: true })
  }

  #release(why: Release): void {
    clearTimeout(this.#watchdog)
    if (!this.#now.held) return
    const long = performance.now() - this.#holdStarted
    if (why === 'up' && long >= shortest) {
      this.#tail = setTimeout(() => {
        this.#tail = undefined
        this.#gate()
      }, tail)
    }
    const discarded = why === 'discard' || long < shortest
    clearTimeout(this.#settling)
    this.#update({ held: false, state: this.#now.phase === 'live' ? (discarded ? 'listening' : 'thinking') : this.#now.state }) // closes the microphone at once unless a tail runs
    if (discarded) {
      this.send({ type: 'input_audio_buffer.clear' })
      this.#responses.hold(false)
      if (why === 'up') this.emit('hint', 'hold_longer')
      return
    }
    this.#commit = setTimeout(() => this.#flush(), commitAfter)
  }

  /** Commits what was said since the press. */
  #flush(): void {
    if (this.#commit === undefined) return
    clearTimeout(this.#commit)
    this.#commit = undefined
    this.send({ type: 'input_audio_buffer.commit' })
    this.#responses.hold(false)
    this.#responses.create()
  }

  #sendMode(): void {
    const turn_detection = this.#now.mode === 'ptt' ? null : this.#turnDetection
    this.send({ type: 'session.update', session: { type: 'realtime', audio: { input: { turn_detection } } } })
  }

  // ── the call ──

  async #connect(attempt: AbortController): Promise<void> {
    const call = new Call(this.gateway)
    this.#call = call
    this.#stateTold = false
    call.on('event', (e) => this.#event(e))
    call.on('stream', (s) => this.emit('stream', s))
    call.on('shaky', (shaky) => this.#update({ shaky }))
    let started = false
    call.on('end', (how) => {
      if (started && this.#call === call) void this.#callEnded(how)
    })
    try {
      await call.start(this.#model, this.#now.threadId, this.#track ?? this.#silent(), attempt.signal)
      started = true
    } catch (err) {
      if (attempt.signal.aborted || this.#call !== call) return
      this.#call = null
      if (err instanceof GatewayError && err.status === 404 && this.#now.threadId) {
        this.#update({ threadId: null }) // the gateway keeps it no longer: the talk goes on without what was said
        return this.#connect(attempt)
      }
      if (this.#now.phase === 'reconnecting' && this.#tries < retries.length) return this.#retry()
      const refused = err instanceof GatewayError ? err : new GatewayError(0, 'failed', String(err))
      this.#finish({ reason: refused.code, message: refused.message })
      return
    }
    this.#tries = 0
    this.#update({ phase: 'live', state: 'listening', shaky: false, callId: call.id, mic: this.#track ? 'ready' : 'silent' })
    if (this.#now.mode === 'ptt') this.#sendMode()
    this.#playout = setInterval(() => void this.#reportPlayout(), 1_000)
  }

  async #callEnded(how: CallEnd): Promise<void> {
    this.#cleanCall()
    if (how === 'closed' || this.#now.phase === 'ended') return
    this.#retry()
  }

  /** A lost connection is taken up again as a new call on the same thread, a bounded number of times. */
  #retry(): void {
    const wait = retries[this.#tries++]
    if (wait === undefined || !this.#now.threadId) {
      this.#finish({ reason: 'lost', message: '' })
      return
    }
    this.#update({ phase: 'reconnecting', state: 'reconnecting' })
    const attempt = (this.#attempt = new AbortController())
    const timer = setTimeout(() => void this.#connect(attempt), wait)
    attempt.signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  }

  #cleanCall(): void {
    this.hold.releaseAll('disconnect')
    clearTimeout(this.#tail)
    clearTimeout(this.#commit)
    clearTimeout(this.#settling)
    clearInterval(this.#playout)
    this.#tail = this.#commit = undefined
    this.#responses.apply({ type: 'output_audio_buffer.cleared' })
    this.#responses.apply({ type: 'response.done' })
    this.#responses.hold(false)
    const silenced = this.captions.hush()
    if (silenced.length) this.emit('captions', silenced)
    this.#call = null
  }

  #finish(ended: Ended): void {
    this.#attempt?.abort()
    const call = this.#call
    this.#cleanCall()
    call?.close()
    this.#update({ phase: 'ended', state: 'ended', ended, shaky: false, callId: '', mic: 'none' })
    this.#setTrack(null)
    this.#silence?.close()
    this.#silence = null
  }

  #event(e: WireEvent): void {
    this.#responses.apply(e)
    this.tools.apply(e)
    this.#screens?.apply(e)
    const changed = this.captions.apply(e)
    if (changed.length) this.emit('captions', changed)
    this.#follow(e)
    this.emit('event', e)
  }

  /** What an event says about the call as a whole. */
  #follow(e: WireEvent): void {
    switch (e.type) {
      case 'session.created':
      case 'session.updated': {
        const td = e.session?.audio?.input?.turn_detection
        if (td) this.#turnDetection = td
        break
      }
      case 'hovor.call':
        this.#update({
          threadId: e.thread_id ?? this.#now.threadId,
          callId: e.call_id ?? this.#now.callId,
          personName: e.person?.name ?? this.#now.personName,
          audioPath: e.audio_path ?? this.#now.audioPath,
        })
        break
      case 'hovor.state':
        if (isTalkState(e.state) && e.state !== 'ended') {
          this.#stateTold = true
          this.#told(e.state)
        }
        break
      case 'hovor.turn': {
        const latency = e.latency_ms ?? {}
        this.emit('turn', {
          id: e.turn_id ?? '',
          mode: e.mode ?? '',
          outcome: e.outcome ?? '',
          latency,
          interruptedAfter: e.interrupted_after_ms ?? null,
        })
        break
      }
      case 'hovor.provider':
        this.#update({ provider: e.state === 'lost' ? { state: 'lost', message: e.message ?? '' } : null })
        break
      case 'hovor.ended':
        this.#finish({ reason: e.reason ?? 'ended', message: e.message ?? '' })
        break
    }
    if (!this.#stateTold) this.#guessState(e)
  }

  /**
   * With push-to-talk nobody is heard who does not hold, whatever a server makes of a cleared buffer. And the silence between a tool
   * and the answer that it leads to is no listening: it is believed only when it lasts.
   */
  #told(state: TalkState): void {
    clearTimeout(this.#settling)
    if (state === 'hearing' && this.#now.mode === 'ptt' && !this.#now.held) state = this.#commit === undefined ? 'listening' : 'thinking'
    if (state !== 'listening' || this.#now.state !== 'thinking') return this.#update({ state })
    this.#settling = setTimeout(() => this.#now.phase === 'live' && this.#update({ state }), settle)
  }

  /** A gateway or provider that tells no state still shows one by its events. */
  #guessState(e: WireEvent): void {
    const state = guesses[e.type]
    if (state === undefined || this.#now.phase !== 'live') return
    if (state === 'listening' && this.#responses.audible) return
    this.#update({ state })
  }

  /** Tells the gateway how much sound waits in the browser, so that "heard" means heard. */
  #playoutSeen = { delay: 0, count: 0 }
  async #reportPlayout(): Promise<void> {
    const call = this.#call
    if (!call?.open || this.#now.state !== 'speaking') return
    const stats = await call.pc.getStats()
    for (const report of stats.values() as IterableIterator<Record<string, number | string>>) {
      if (report.type !== 'inbound-rtp' || report.kind !== 'audio') continue
      const delay = Number(report.jitterBufferDelay ?? 0)
      const count = Number(report.jitterBufferEmittedCount ?? 0)
      const seen = this.#playoutSeen
      this.#playoutSeen = { delay, count }
      if (count <= seen.count) return
      const item = this.captions.lines.filter((l) => l.speaker === 'assistant').pop()
      if (!item) return
      const buffered_ms = Math.round(((delay - seen.delay) / (count - seen.count)) * 1_000)
      call.send({ type: 'hovor.playout', item_id: item.id, buffered_ms })
      return
    }
  }

  #update(change: Partial<Snapshot>): void {
    this.#now = { ...this.#now, ...change }
    this.#gate()
    this.emit('change', this.#now)
  }
}

const guesses: Record<string, TalkState> = {
  'input_audio_buffer.speech_started': 'hearing',
  'input_audio_buffer.speech_stopped': 'thinking',
  'input_audio_buffer.committed': 'thinking',
  'response.created': 'thinking',
  'output_audio_buffer.started': 'speaking',
  'output_audio_buffer.stopped': 'listening',
  'output_audio_buffer.cleared': 'listening',
}
