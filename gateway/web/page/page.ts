import { bindHold, Talk, type Mode, type Snapshot } from '../client/index'
import { Desk } from './desk'
import { Details } from './details'
import { button, byId, h, setText } from './dom'
import { language, named, seconds, t, translate } from './i18n'
import { Notices, type Notice } from './notice'
import { Tabs } from './tabs'
import { Trace } from './trace'
import { Transcript } from './transcript'

/** What the quickstart's assistant understands by ear and by eye; in English, because its ear is. */
const examples = ['open the document welcome', 'read the document pricing', 'tell me a long story']

document.documentElement.lang = language
translate(document)

const voice = byId<HTMLAudioElement>('voice')
const people = [...byId('people').querySelectorAll<HTMLInputElement>('input')]
const modes = [...byId('mode').querySelectorAll<HTMLInputElement>('input')]
const toggles = byId<HTMLInputElement>('toggle')
const field = byId<HTMLInputElement>('words')
const mains = ['start', 'cancel', 'mute', 'hold', 'usemic'].map((id) => byId<HTMLButtonElement>(id))

const noKeys = matchMedia('(hover: none) and (pointer: coarse)')
const tabs = new Tabs()
const trace = new Trace()
const notices = new Notices()
const transcript = new Transcript(
  (callId) => talk.tools.get(callId),
  (line) => talk.captions.spoken(line),
)
const details = new Details((on) => transcript.announce(on))

let hint = '' // a passing remark that stands in the hint line until the state changes
let audioBlocked = false
let unsent = '' // typed before the call was up
let stopTalk: (() => void)[] = []
const talks = new Map<string, Talk>()
/** The tab's own memory. A browser that keeps nothing still talks. */
const keep = {
  get: (key: string): string | null => {
    try {
      return sessionStorage.getItem(key)
    } catch {
      return null
    }
  },
  set: (key: string, value: string | null): void => {
    try {
      if (value === null) sessionStorage.removeItem(key)
      else sessionStorage.setItem(key, value)
    } catch {
      // then it ends with the page
    }
  },
}
let talk = newTalk(recall('person') === 'bob' ? 'bob' : 'alice')
const desk = new Desk(talk.gateway, (tab) => tabs.show(tab))
void desk.use(talk.gateway)

/** Takes up a person's talk of this page's life, or else that of an earlier load in the same tab. */
function newTalk(person: string): Talk {
  for (const stop of stopTalk) stop()
  const threadKey = `hovor.thread.${person}`
  let next = talks.get(person)
  if (!next) {
    next = new Talk({ bearer: `demo-${person}`, threadId: keep.get(threadKey), perform: (request, signal) => desk.perform(request, signal) })
    talks.set(person, next)
    next.on('change', (s) => keep.set(threadKey, s.threadId))
    next.restore().catch(() => {}) // it can be gone on with all the same
  }
  for (const input of people) input.checked = input.value === person
  transcript.setPerson(person[0]!.toUpperCase() + person.slice(1))
  next.setMode(recall('mode') === 'ptt' ? 'ptt' : 'open')
  return listen(next)
}

function listen(next: Talk): Talk {
  stopTalk = [
    next.on('change', draw),
    next.on('captions', (lines) => transcript.draw(lines, next.captions.lines)),
    next.on('tool', (run) => {
      details.tool(run)
      transcript.draw(next.captions.lines.filter((l) => l.callId === run.callId), next.captions.lines)
    }),
    next.on('turn', (turn) => {
      details.turn(turn)
      if (turn.outcome === 'answered' && typeof turn.latency.total === 'number') trace.mark(seconds(turn.latency.total))
    }),
    next.on('stream', play),
    next.on('microphone', (track) => trace.listen('person', track && new MediaStream([track]))),
    next.on('hint', (what) => remark(t(`hint.${what}`))),
    bindHold(next.hold, {
      button: byId('hold'),
      enabled: () => next.snapshot.phase === 'live' && next.snapshot.mode === 'ptt' && next.snapshot.mic === 'ready',
      toggles: () => toggles.checked,
    }),
  ]
  return next
}

// ── what the person does ──

async function start(microphone: boolean): Promise<void> {
  trace.unlock()
  hint = ''
  await talk.start({ microphone })
  if (unsent && talk.say(unsent)) unsent = ''
}

byId('start').addEventListener('click', () => void start(true))
byId('cancel').addEventListener('click', () => talk.hangup())
byId('hangup').addEventListener('click', () => talk.hangup())
byId('mute').addEventListener('click', () => talk.setMuted(!talk.snapshot.muted))
byId('usemic').addEventListener('click', () => {
  trace.unlock()
  void talk.useMicrophone()
})
toggles.checked = recall('toggle') === 'true'
toggles.addEventListener('change', () => {
  remember('toggle', String(toggles.checked))
  talk.hold.releaseAll('mode')
  draw(talk.snapshot)
})
for (const input of modes) {
  input.checked = input.value === talk.snapshot.mode
  input.addEventListener('change', () => {
    hint = ''
    remember('mode', input.value)
    talk.setMode(input.value as Mode)
  })
}
for (const input of people) {
  input.addEventListener('change', () => {
    remember('person', input.value)
    talk = newTalk(input.value)
    showTalk()
    void desk.use(talk.gateway)
    draw(talk.snapshot)
  })
}

/** Everything on the page that is one talk's. */
function showTalk(): void {
  details.clear()
  transcript.clear()
  trace.clear()
  for (const run of talk.tools.runs) details.tool(run)
  for (const { turn } of talk.captions.lines) if (turn) details.turn(turn)
  transcript.draw(talk.captions.lines, talk.captions.lines)
}

/** Leaves the person's talk as it is and begins another. */
function anew(): void {
  const person = people.find((p) => p.checked)?.value ?? 'alice'
  keep.set(`hovor.thread.${person}`, null)
  talks.delete(person)
  talk = newTalk(person)
  showTalk()
  draw(talk.snapshot)
}

byId('say').addEventListener('submit', (e) => {
  e.preventDefault()
  const words = field.value.trim()
  if (!words) return
  say(words)
  field.value = ''
})

/** Says it in writing; without a call it opens one that needs no microphone. */
function say(words: string): void {
  if (talk.say(words)) return
  unsent = words
  void start(false)
}

byId('examples').replaceChildren(...examples.map((words) => h('li', { lang: 'en' }, button(words, () => say(words)))))
addEventListener('pagehide', () => {
  if (talk.snapshot.phase !== 'idle' && talk.snapshot.phase !== 'ended') talk.leave()
})

// ── sound ──

function play(stream: MediaStream): void {
  voice.srcObject = stream
  trace.listen('assistant', stream)
  void resume()
}

async function resume(): Promise<void> {
  trace.unlock()
  try {
    await voice.play()
    audioBlocked = false
  } catch (err) {
    audioBlocked = err instanceof DOMException && err.name === 'NotAllowedError'
  }
  draw(talk.snapshot)
}

// ── what the person sees ──

function draw(s: Snapshot): void {
  if (s !== talk.snapshot) s = talk.snapshot
  if (s.held) hint = '' // what was said of the last hold is no word about this one
  const root = document.documentElement
  root.dataset.phase = s.phase
  root.dataset.mic = s.micOpen ? 'open' : 'closed'
  root.dataset.state = shownState(s)

  const busy = s.phase === 'connecting' || s.phase === 'reconnecting'
  const live = s.phase === 'live'
  const leaving = !live && document.activeElement === byId('hangup') // its button is about to be disabled
  show(busy ? 'cancel' : !live ? 'start' : s.mic !== 'ready' ? 'usemic' : s.mode === 'ptt' ? 'hold' : 'mute')
  byId<HTMLButtonElement>('hangup').disabled = !live
  if (leaving) focusMain()
  for (const input of people) input.disabled = live || busy
  byId('people').title = live || busy ? t('who.locked') : ''
  for (const input of modes) input.checked = input.value === s.mode

  label('start', cameToNothing(s) ? t('retry') : s.threadId ? t('continue') : t('start'))
  label('mute', s.muted ? t('unmute') : t('mute'))
  press('mute', s.muted)
  label('hold', toggles.checked ? (s.held ? t('ptt.pressed') : t('ptt.press')) : s.held ? t('ptt.held') : t('ptt.hold'))
  press('hold', s.held)
  byId('toggle-label').hidden = s.mode !== 'ptt'

  const state = shownState(s)
  setText(byId('state'), t(`state.${state}`))
  byId('glyph').dataset.state = state === 'asking' ? 'connecting' : state
  setText(byId('hint'), hintFor(s))
  setText(byId('remark'), hint) // one status tells of both
  trace.setMicOpen(s.micOpen)
  trace.run(live)
  if (notices.show(noticeFor(s))) focusMain()
}

type Shown = Snapshot['state'] | 'idle' | 'connecting' | 'asking' | 'ready' | 'lost'

/** With push-to-talk and nothing held the page does not listen, so it does not say so. */
function shownState(s: Snapshot): Shown {
  if (s.phase === 'idle') return 'idle'
  if (s.mic === 'asking' && s.phase !== 'live') return 'asking'
  if (s.phase !== 'live') return s.phase
  if (s.provider?.state === 'lost') return 'lost'
  if (s.state === 'ended') return 'listening'
  if (s.held) return 'hearing'
  if (s.state === 'hearing' && s.mode === 'ptt') return 'ready'
  if (s.state === 'listening' && !s.micOpen) return 'ready'
  return s.state
}

function hintFor(s: Snapshot): string {
  if (s.shaky) return t('hint.shaky')
  if (hint) return hint
  if (s.phase === 'idle') return t('hint.idle')
  if (s.phase !== 'live') return ''
  if (s.mic !== 'ready') return t('hint.silent')
  if (s.mode === 'ptt') return t(toggles.checked ? 'hint.ptt.toggle' : noKeys.matches ? 'hint.ptt.touch' : 'hint.ptt')
  return s.muted ? t('hint.muted') : t('hint.open')
}

function noticeFor(s: Snapshot): Notice | null {
  if (s.provider?.state === 'lost' && s.phase === 'live') {
    return { key: 'provider', tone: 'wrong', title: t('lost.provider'), text: t('lost.provider.help'), actions: [[t('continue'), () => void restart()]] }
  }
  if (audioBlocked && s.phase === 'live') {
    return { key: 'audio', tone: 'calm', title: t('audio.blocked'), text: t('audio.help'), actions: [[t('audio.play'), () => void resume()]] }
  }
  if (s.micProblem && s.phase !== 'connecting') {
    const retry: [string, () => void] = [t('retry'), () => void (s.phase === 'live' ? talk.useMicrophone() : start(true))]
    const writing: [string, () => void] = [t('start.text'), () => void start(false)]
    const texts = { title: t(`mic.title.${s.micProblem}`), text: t(`mic.help.${s.micProblem}`) }
    if (s.phase !== 'live') return { key: `mic ${s.micProblem}`, tone: 'wrong', ...texts, actions: [retry, writing] }
    return { key: `mic ${s.micProblem} live`, tone: 'calm', ...texts, actions: [retry] }
  }
  if (s.phase === 'ended' && s.ended && s.ended.reason !== 'hangup') {
    const { reason, message } = s.ended
    const why = named('end', reason)
    const known = why !== reason.replaceAll('_', ' ')
    const failed = cameToNothing(s)
    // Why it never came about is best told by who tried; what this page itself found has no better words than the table's.
    const text = (failed && reason in ownWords) || !known ? message || why : why
    return {
      key: `ended ${reason}`,
      tone: 'wrong',
      title: failed ? t('ended.failed') : t('ended.title'),
      text: [text, !failed && s.threadId ? t('ended.kept') : ''].filter(Boolean).join(' '),
      actions: [], // the main button below says it
    }
  }
  if (s.phase === 'idle' && s.threadId && talk.captions.lines.length > 0) {
    return { key: 'kept', tone: 'calm', title: t('kept.title'), text: t('kept.help'), actions: [[t('kept.new'), anew]] }
  }
  return null
}

/** Reasons that a gateway explains in a sentence of its own. */
const ownWords: Record<string, true> = { provider_unavailable: true, provider_lost: true, setup_failed: true, setup_timeout: true, internal: true }

/** The call ended before a word was said in it. */
function cameToNothing(s: Snapshot): boolean {
  if (s.phase !== 'ended' || !s.ended || s.ended.reason === 'hangup') return false
  return !s.threadId || s.ended.reason === 'provider_unavailable' || (s.ended.reason in ownWords && talk.captions.lines.length === 0)
}

async function restart(): Promise<void> {
  const hadMicrophone = talk.snapshot.mic === 'ready'
  talk.hangup()
  await start(hadMicrophone)
}

/** Swaps the main button in its place and takes the focus along. */
function show(id: string): void {
  const next = byId(id)
  if (!next.hidden) return
  const hadFocus = mains.some((m) => m === document.activeElement)
  for (const m of mains) m.hidden = m.id !== id
  if (hadFocus) next.focus()
}

/** For a focus whose place is gone. */
function focusMain(): void {
  mains.find((m) => !m.hidden)?.focus()
}

function label(id: string, text: string): void {
  const span = byId(id).querySelector('span')
  if (span) setText(span, text)
}

function press(id: string, on: boolean): void {
  byId(id).setAttribute('aria-pressed', String(on))
}

let remarkTimer: ReturnType<typeof setTimeout> | undefined
function remark(text: string): void {
  hint = text
  clearTimeout(remarkTimer)
  remarkTimer = setTimeout(() => {
    hint = ''
    draw(talk.snapshot)
  }, 6_000)
  draw(talk.snapshot)
}

// ── the network, as measured ──

let seen = { received: 0, lost: 0 }
setInterval(() => void measure(), 2_000)
async function measure(): Promise<void> {
  const pc = talk.connection
  if (!pc || talk.snapshot.phase !== 'live') {
    seen = { received: 0, lost: 0 }
    return
  }
  let rtt = 0
  let jitter = 0
  let received = 0
  let lost = 0
  for (const r of (await pc.getStats()).values() as IterableIterator<Record<string, unknown>>) {
    if (r.type === 'candidate-pair' && r.nominated) rtt = Number(r.currentRoundTripTime ?? 0) * 1_000
    if (r.type === 'inbound-rtp' && r.kind === 'audio') {
      jitter = Number(r.jitter ?? 0) * 1_000
      received = Number(r.packetsReceived ?? 0)
      lost = Number(r.packetsLost ?? 0)
    }
  }
  const came = received - seen.received
  const gone = Math.max(0, lost - seen.lost)
  seen = { received, lost }
  details.network(rtt, jitter, came + gone > 0 ? (100 * gone) / (came + gone) : 0)
}

// ── start ──

function remember(key: string, value: string): void {
  try {
    localStorage.setItem(`hovor.${key}`, value)
  } catch {
    // a browser that keeps nothing still talks
  }
}

function recall(key: string): string | null {
  try {
    return localStorage.getItem(`hovor.${key}`)
  } catch {
    return null
  }
}

void talk.gateway.about().then(
  (about) => {
    details.about(about)
    setText(byId('path'), about.audio_path ?? '')
    // The embedded provider's ear knows one language.
    const englishOnly = about.providers?.some((p) => p.kind === 'local') ?? false
    byId('english').hidden = !englishOnly
    transcript.englishOnly = englishOnly
  },
  () => {},
)
draw(talk.snapshot)
