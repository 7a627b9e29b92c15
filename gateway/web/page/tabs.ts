import { byId } from './dom'

export type View = 'talk' | 'documents' | 'processes' | 'call'

const all: View[] = ['talk', 'documents', 'processes', 'call']

/** The tabs. On a narrow screen the talk is one of them; on a wide one it stands beside and its tab is gone. */
export class Tabs {
  readonly #narrow = matchMedia('(max-width: 59.99rem)')
  #view: View = 'talk'
  #side: View = 'documents'

  constructor() {
    for (const view of all) this.#tab(view).addEventListener('click', () => this.show(view))
    byId('tabs').addEventListener('keydown', (e) => this.#arrows(e))
    this.#narrow.addEventListener('change', () => this.#draw())
    this.#draw()
  }

  show(view: View): void {
    this.#view = view
    if (view !== 'talk') this.#side = view
    this.#draw()
  }

  #draw(): void {
    const current = this.#narrow.matches ? this.#view : this.#side
    document.body.dataset.view = current
    for (const view of all) {
      const tab = this.#tab(view)
      tab.setAttribute('aria-selected', String(view === current))
      tab.tabIndex = view === current ? 0 : -1
      if (view !== 'talk') byId(view).dataset.shown = String(view === current)
    }
  }

  #arrows(e: KeyboardEvent): void {
    const tabs = all.filter((v) => this.#narrow.matches || v !== 'talk')
    const at = tabs.findIndex((v) => this.#tab(v) === document.activeElement)
    const move: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }
    const to = move[e.key]
    if (at < 0 || to === undefined) return
    e.preventDefault()
    const view = tabs[(to + tabs.length) % tabs.length]!
    this.show(view)
    this.#tab(view).focus()
  }

  #tab(view: View): HTMLElement {
    return byId(`tab-${view}`)
  }
}
