import type { Caption, ToolRun } from '../client/index'
import { byId, h, setText } from './dom'
import { named, seconds, t } from './i18n'

/**
 * The talk as a printed dialogue. Lines follow the conversation's order. A line in progress is a live region that is off; when it is
 * final a fresh element takes its place, so that a screen reader is told of each finished line once, and of nothing else.
 */
export class Transcript {
  readonly #log = byId('log')
  readonly #scroll = byId('scroll')
  readonly #jump = byId('jump')
  readonly #empty = byId('empty')
  #rows = new Map<string, HTMLElement>()
  #lines: readonly Caption[] = []
  #clock: ReturnType<typeof setInterval> | undefined
  #following = true
  #height = 0
  #person = ''
  /** The provider hears one language; whoever is not understood is told. */
  englishOnly = false

  constructor(
    private readonly tool: (callId: string) => ToolRun | undefined,
    /** How many characters of a line have been spoken by now. */
    private readonly spoken: (line: Caption) => number,
  ) {
    this.#scroll.addEventListener('scroll', () => this.#look())
    this.#jump.addEventListener('click', () => this.#toEnd())
    new ResizeObserver(() => {
      this.#height = this.#scroll.clientHeight
      this.#follow()
    }).observe(this.#scroll)
  }

  setPerson(name: string): void {
    this.#person = name
  }

  announce(on: boolean): void {
    this.#log.setAttribute('aria-live', on ? 'polite' : 'off')
  }

  /** Draws the lines given and puts all lines in order. */
  draw(changed: readonly Caption[], all: readonly Caption[]): void {
    this.#lines = all
    for (const line of changed) this.#drawLine(line, all)
    this.#empty.hidden = all.some(worthShowing)
    this.#follow()
    if (all.some((l) => l.voice)) this.#clock ??= setInterval(() => this.#tick(), 100)
  }

  /** The voice has moved on. Only text inside of nodes changes, so that no screen reader takes it for something new. */
  #tick(): void {
    let going = false
    for (const line of this.#lines) {
      const row = this.#rows.get(line.id)
      const ahead = row?.querySelector<HTMLElement>('[data-voice]')
      if (!row || !ahead) continue
      const n = this.spoken(line)
      const before = ahead.previousSibling
      if (before instanceof Text && before.length !== n) before.data = line.text.slice(0, n)
      setText(ahead, line.text.slice(n))
      going ||= n < line.text.length
    }
    this.#follow()
    if (going || this.#lines.some((l) => l.voice && !l.final)) return
    clearInterval(this.#clock)
    this.#clock = undefined
    this.#look()
  }

  /** Does the person look at where the talk is, or elsewhere? */
  #look(): void {
    if (this.#scroll.clientHeight !== this.#height) return // not the person moved: the room changed, and is about to be told
    this.#following = !this.#empty.hidden || Math.abs(this.#scroll.scrollTop - this.#here()) < 48
    this.#jump.hidden = this.#following
  }

  /** Where to scroll to: the end, or while a long answer is being spoken, the word that is. */
  #here(): number {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroll
    const end = scrollHeight - clientHeight
    const ahead = [...this.#log.querySelectorAll('[data-voice]')].pop()?.getClientRects()[0]
    if (!ahead) return end
    const y = ahead.top - this.#scroll.getBoundingClientRect().top + scrollTop
    return Math.max(0, Math.min(end, y - clientHeight * 0.6))
  }

  /** Another person's talk, or none. */
  clear(): void {
    this.#rows.clear()
    this.#lines = []
    this.#log.replaceChildren()
    this.#empty.hidden = false
    this.#following = true
    this.#jump.hidden = true
    this.#scroll.scrollTop = 0
  }

  /** The newest words stay in view; an empty page is read from its start. */
  #follow(): void {
    if (this.#following && this.#empty.hidden) this.#toEnd()
  }

  #drawLine(line: Caption, all: readonly Caption[]): void {
    const old = this.#rows.get(line.id)
    if (!all.includes(line) || !worthShowing(line)) {
      old?.remove()
      this.#rows.delete(line.id)
      return
    }
    const isFinal = String(line.final)
    let row = old
    if (!row || row.dataset.final !== isFinal) {
      row = h('li', { class: 'line', 'data-speaker': line.speaker, 'data-final': isFinal, 'data-item': line.id })
      if (!line.final) row.setAttribute('aria-live', 'off')
      this.#rows.set(line.id, row)
    }
    this.#fill(row, line)
    if (row !== old && old) old.replaceWith(row)
    this.#put(row, line, all)
  }

  /** Puts a row before the next line that is shown. */
  #put(row: HTMLElement, line: Caption, all: readonly Caption[]): void {
    let next: HTMLElement | null = null
    for (let i = all.indexOf(line) + 1; i < all.length && !next; i++) next = this.#rows.get(all[i]!.id) ?? null
    if (row.parentNode !== this.#log || row.nextElementSibling !== next) this.#log.insertBefore(row, next)
  }

  #fill(row: HTMLElement, line: Caption): void {
    if (line.speaker === 'tool') {
      const run = line.callId ? this.tool(line.callId) : undefined
      row.replaceChildren(h('span', { class: 'name', 'aria-hidden': 'true' }, '→'), h('div', { class: 'words' }, ...toolWords(run, line.text)))
      return
    }
    const name = line.speaker === 'person' ? this.#person || t('you') : 'Hovor'
    const body = h('p', { class: 'words', lang: line.language }, ...words(line, this.spoken(line)))
    row.replaceChildren(h('span', { class: 'name' }, name, h('span', { class: 'unseen' }, ': ')), h('div', {}, body, h('div', { class: 'more' }, ...this.#remarks(line))))
  }

  #remarks(line: Caption): Node[] {
    const lost = line.speaker === 'person' && line.final && !line.text && !line.failed
    return lost && this.englishOnly ? [h('span', {}, t('talk.english'))] : remarks(line)
  }

  #toEnd(): void {
    this.#scroll.scrollTop = this.#here()
    this.#following = true
    this.#jump.hidden = true
  }
}

function worthShowing(line: Caption): boolean {
  return line.text !== '' || line.failed || (line.speaker === 'person' && (!line.final || line.by === 'voice'))
}

function words(line: Caption, spoken: number): (Node | string)[] {
  if (line.failed) return [h('span', { class: 'gone' }, t('line.failed'))]
  if (!line.text) return [h('span', { class: 'gone' }, t(line.final ? 'line.not_understood' : 'line.waiting'))]
  if (line.voice && !line.interrupted) return [line.text.slice(0, spoken), h('span', { class: 'ahead', 'data-voice': '' }, line.text.slice(spoken))]
  if (line.speaker === 'person' || line.heard === null || line.heard >= line.text.length) return [line.text]
  const heard = line.text.slice(0, line.heard)
  const rest = line.text.slice(line.heard)
  if (!line.interrupted) return [heard, h('span', { class: 'ahead' }, rest)]
  return [heard, h('span', { class: 'unseen' }, ` ${t('line.unheard')} `), h('del', {}, shortened(rest))]
}

/** What nobody heard takes a few lines at most. */
function shortened(text: string): string {
  if (text.length <= 180) return text
  return text.slice(0, text.lastIndexOf(' ', 160)) + ' …'
}

function remarks(line: Caption): Node[] {
  const parts: Node[] = []
  if (line.by === 'text' && line.speaker === 'person') parts.push(h('span', {}, t('line.typed')))
  const total = line.turn?.latency.total
  if (typeof total === 'number') parts.push(h('span', { 'data-latency': String(total) }, t('line.latency', { time: seconds(total) })))
  if (line.interrupted && line.speaker === 'assistant') parts.push(h('span', { class: 'cut' }, t('line.interrupted')))
  return parts
}

/** What a tool call looks like among the lines: its name, what kind of thing it does, how it went, how long it took. */
export function toolWords(run: ToolRun | undefined, name: string): Node[] {
  const parts: Node[] = [h('code', {}, run?.name || name)]
  if (run?.class) parts.push(document.createTextNode(` ${named('class', run.class)}`))
  parts.push(document.createTextNode(' · '), statusWord(run?.status ?? 'running'))
  if (run?.took != null) parts.push(document.createTextNode(` · ${seconds(run.took)}`))
  return parts
}

export function statusWord(status: string): HTMLElement {
  const wrong = ['denied', 'invalid', 'failed', 'uncertain'].includes(status)
  return h('span', { class: wrong ? 'status-wrong' : null, 'data-status': status }, named('status', status))
}
