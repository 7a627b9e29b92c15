import type { About, ToolRun, Turn } from '../client/index'
import { byId, h, setText } from './dom'
import { named, seconds, t } from './i18n'
import { statusWord } from './transcript'

/** The panel about the call itself: where the voice goes, each turn's times, each tool, the network as measured. */
export class Details {
  readonly #facts = h('dl', { class: 'facts' })
  readonly #turns = h('div', { class: 'wide' })
  readonly #tools = h('ul', { class: 'runs', id: 'runs' })
  readonly #network = h('p', { id: 'network' }, t('call.network.none'))
  readonly #rows = new Map<string, HTMLElement>()
  #body: HTMLTableSectionElement | null = null
  #count = 0

  constructor(announce: (on: boolean) => void) {
    const box = h('input', { type: 'checkbox', checked: '' })
    box.addEventListener('change', () => announce(box.checked))
    byId('call').replaceChildren(
      h('section', {}, this.#facts),
      h('section', {}, h('h2', {}, t('call.turns')), this.#turns),
      h('section', {}, h('h2', {}, t('call.tools')), this.#tools),
      h('section', {}, h('h2', {}, t('call.network')), this.#network),
      h('section', {}, h('label', { class: 'toggle' }, box, h('span', {}, t('call.announce')))),
    )
    this.clear()
  }

  clear(): void {
    this.#count = 0
    this.#body = null
    this.#rows.clear()
    this.#turns.replaceChildren(h('p', { class: 'none' }, t('call.turns.none')))
    this.#tools.replaceChildren(h('li', { class: 'none' }, t('call.tools.none')))
    setText(this.#network, t('call.network.none'))
  }

  about(about: About): void {
    const providers = about.providers?.map((p) => [p.name, p.where].filter(Boolean).join(', ')).join('; ')
    const facts: [string, string | undefined][] = [
      [t('call.path'), about.audio_path],
      [t('call.providers'), providers],
      [t('call.recording'), about.recording],
      [t('call.version'), about.version],
    ]
    this.#facts.replaceChildren(...facts.flatMap(([name, value]) => (value ? [h('div', {}, h('dt', {}, name), h('dd', {}, value))] : [])))
  }

  turn(turn: Turn): void {
    if (!this.#body) {
      this.#body = h('tbody')
      const heads = [t('call.turn'), t('call.mode'), t('call.outcome'), t('call.total'), t('call.endpointing'), t('call.provider')]
      const head = h('thead', {}, h('tr', {}, ...heads.map((text, i) => h('th', { scope: 'col', class: i > 2 ? 'n' : null }, text))))
      this.#turns.replaceChildren(h('table', { id: 'turns' }, head, this.#body))
    }
    const figure = (ms: number | null | undefined) => h('td', { class: 'n' }, typeof ms === 'number' ? seconds(ms) : '–')
    const old = this.#body.querySelector(`[data-turn="${CSS.escape(turn.id)}"]`) // told again when it is interrupted
    const row = h(
        'tr',
        { 'data-turn': turn.id },
        h('td', {}, old?.firstElementChild?.textContent ?? String(++this.#count)),
        h('td', {}, named('turn', turn.mode)),
        h('td', {}, named('turn', turn.outcome)),
        figure(turn.latency.total),
        figure(turn.latency.endpointing),
        figure(turn.latency.provider_first_audio),
    )
    if (old) old.replaceWith(row)
    else this.#body.prepend(row)
  }

  tool(run: ToolRun): void {
    if (this.#rows.size === 0) this.#tools.replaceChildren()
    let row = this.#rows.get(run.callId)
    if (!row) {
      row = h('li', { 'data-call': run.callId }, h('details', {}, h('summary')))
      this.#rows.set(run.callId, row)
      this.#tools.prepend(row)
    }
    const details = row.firstElementChild as HTMLDetailsElement
    const summary = details.firstElementChild as HTMLElement
    summary.replaceChildren(
      h('code', {}, run.name),
      statusWord(run.status),
      h('span', {}, run.took === null ? '' : seconds(run.took)),
      run.class ? h('small', {}, named('class', run.class)) : '',
    )
    details.replaceChildren(
      summary,
      h(
        'dl',
        {},
        run.arguments ? h('dt', {}, t('call.asked')) : null,
        run.arguments ? h('dd', {}, h('pre', {}, pretty(run.arguments))) : null,
        run.output ? h('dt', {}, t('call.answered')) : null,
        run.output ? h('dd', {}, h('pre', {}, pretty(run.output))) : null,
      ),
    )
  }

  network(rtt: number, jitter: number, lost: number): void {
    setText(this.#network, t('call.network.now', { rtt: rtt.toFixed(0), jitter: jitter.toFixed(0), lost: lost.toFixed(1) }))
  }
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 1)
  } catch {
    return json
  }
}
