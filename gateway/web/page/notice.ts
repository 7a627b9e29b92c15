import { button, byId, setText } from './dom'

export interface Notice {
  key: string
  title: string
  text: string
  tone: 'wrong' | 'calm'
  actions: [text: string, press: () => void][]
}

/** One message at a time, above the controls, with what can be done about it. */
export class Notices {
  readonly #box = byId('notice')
  #key = ''

  /** True when the focus was in here and has lost its place. */
  show(notice: Notice | null): boolean {
    const key = notice?.key ?? ''
    if (key === this.#key) return false
    this.#key = key
    const hadFocus = this.#box.contains(document.activeElement)
    this.#box.hidden = notice === null
    if (!notice) return hadFocus
    this.#box.dataset.tone = notice.tone
    this.#box.dataset.key = key
    setText(byId('notice-title'), notice.title)
    setText(byId('notice-text'), notice.text)
    byId('notice-actions').replaceChildren(...notice.actions.map(([text, press]) => button(text, press)))
    const next = this.#box.querySelector('button')
    if (hadFocus) next?.focus()
    return hadFocus && !next
  }
}
