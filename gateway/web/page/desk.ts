import { GatewayError, type Gateway, type Performer, type ScreenOutcome, type ScreenRequest } from '../client/index'
import { button, byId, h } from './dom'
import { locale, t } from './i18n'
import { mark, unmark } from './passage'
import { shown } from './shown'

interface Entry {
  id: string
  title: string
  language?: string
  updated?: string
}

interface Document extends Entry {
  text: string
}

interface Process {
  id: string
  title: string
  parent?: string
  steps?: string[]
  documents?: string[]
}

/** The person's documents and processes: what the assistant opens, shows and marks, and the person by hand. */
export class Desk {
  readonly #docs = byId('documents')
  readonly #shelf = byId('shelf')
  readonly #reader = byId('reader')
  readonly #processes = byId('processes')
  #open: string | null = null
  #gateway: Gateway
  #version = 0 // grows with every change of person

  constructor(
    gateway: Gateway,
    /** Brings a panel to the front. */
    private readonly front: (tab: 'documents' | 'processes') => void,
  ) {
    this.#gateway = gateway
    this.#docs.dataset.open = 'false'
  }

  /** Another person: other credentials, other shelves. */
  async use(gateway: Gateway): Promise<void> {
    this.#gateway = gateway
    const version = ++this.#version
    this.#close()
    await Promise.all([this.#loadShelf(version), this.#loadProcesses(version)])
  }

  /** Does a screen tool. It says `found` only once the thing is really to be seen. */
  readonly perform: Performer = async (request, signal) => {
    const id = String(request.arguments.id ?? '')
    switch (request.tool) {
      case 'open_document':
        return this.#showDocument(id, signal)
      case 'show_process':
        return this.#showProcess(id, signal)
      case 'highlight_passage':
        return this.#highlight(id, request, signal)
    }
    throw new Error(`this page has no way to do ${request.tool}`)
  }

  async #showDocument(id: string, signal: AbortSignal): Promise<ScreenOutcome> {
    if (!(await this.#read(id, t('docs.by'), signal))) return 'not_found'
    this.front('documents')
    this.#docs.scrollTop = 0
    await shown(this.#reader, signal)
    return 'found'
  }

  async #highlight(id: string, request: ScreenRequest, signal: AbortSignal): Promise<ScreenOutcome> {
    if (this.#open !== id && !(await this.#read(id, t('docs.by'), signal))) return 'not_found'
    this.front('documents')
    const text = this.#reader.querySelector<HTMLElement>('.text')
    const marks = text ? mark(text, String(request.arguments.text ?? '')) : []
    const first = marks[0]
    if (!first) return 'not_found'
    this.#by(this.#reader, t('docs.marked'))
    first.scrollIntoView({ block: 'center' })
    await shown(first, signal)
    return 'found'
  }

  async #showProcess(id: string, signal: AbortSignal): Promise<ScreenOutcome> {
    const row = this.#processes.querySelector<HTMLElement>(`[data-process="${CSS.escape(id)}"]`)
    if (!row) return 'not_found'
    this.front('processes')
    await this.#expand(row, signal)
    this.#by(this.#processes, t('proc.by'))
    row.scrollIntoView({ block: 'nearest' })
    await shown(row, signal)
    return 'found'
  }

  // ── documents ──

  async #loadShelf(version: number): Promise<void> {
    let entries: Entry[]
    try {
      entries = (await this.#gateway.json<{ documents: Entry[] }>('GET', '/demo/documents')).documents
    } catch {
      if (version === this.#version) this.#shelf.replaceChildren(h('p', { class: 'none' }, t('docs.failed')))
      return
    }
    if (version !== this.#version) return
    if (entries.length === 0) return this.#shelf.replaceChildren(h('p', { class: 'none' }, t('docs.none')))
    this.#shelf.replaceChildren(
      h('ul', {}, ...entries.map((entry) => h('li', {}, this.#shelfButton(entry)))),
    )
    this.#emptyReader()
  }

  #shelfButton(entry: Entry): HTMLButtonElement {
    const el = button(entry.title, () => {
      void this.#read(entry.id, '', new AbortController().signal).then((found) => {
        if (!found) return
        this.#docs.scrollTop = 0
        this.#reader.focus({ preventScroll: true })
      })
    })
    el.dataset.document = entry.id
    if (entry.language) el.querySelector('span')!.lang = entry.language
    el.append(h('small', {}, languageName(entry.language)))
    return el
  }

  /** Loads a document and puts it into the reader; false when there is no such document for this person. */
  async #read(id: string, by: string, signal: AbortSignal): Promise<boolean> {
    if (!id) return false
    const version = this.#version
    let doc: Document
    try {
      doc = await this.#gateway.json<Document>('GET', `/demo/documents/${encodeURIComponent(id)}`, undefined, signal)
    } catch (err) {
      if (err instanceof GatewayError && (err.status === 403 || err.status === 404)) return false
      throw err
    }
    if (version !== this.#version) throw new Error('another person is at the page')
    this.#open = id
    this.#docs.dataset.open = 'true'
    for (const el of this.#shelf.querySelectorAll<HTMLElement>('[data-document]')) {
      if (el.dataset.document === id) el.setAttribute('aria-current', 'true')
      else el.removeAttribute('aria-current')
    }
    const lang = doc.language ?? null
    const back = button(`← ${t('docs.all')}`, () => this.#close())
    back.className = 'back'
    this.#reader.dataset.document = id
    this.#reader.replaceChildren(
      back,
      h('p', { class: 'by' }, by),
      h('h2', { lang }, doc.title),
      h('p', { class: 'meta' }, [id, languageName(doc.language), date(doc.updated)].filter(Boolean).join(' · ')),
      h('div', { class: 'text', lang }, ...doc.text.split(/\n{2,}/).map((p) => h('p', {}, p.trim()))),
    )
    return true
  }

  #close(): void {
    const was = this.#open
    this.#open = null
    this.#docs.dataset.open = 'false'
    this.#emptyReader()
    for (const el of this.#shelf.querySelectorAll('[aria-current]')) el.removeAttribute('aria-current')
    if (was) this.#shelf.querySelector<HTMLElement>(`[data-document="${CSS.escape(was)}"]`)?.focus()
  }

  #emptyReader(): void {
    if (this.#open) return
    delete this.#reader.dataset.document
    unmark(this.#reader)
    this.#reader.replaceChildren(h('p', { class: 'none' }, t('docs.pick')))
  }

  // ── processes ──

  async #loadProcesses(version: number): Promise<void> {
    let entries: Process[] = []
    try {
      entries = (await this.#gateway.json<{ processes: Process[] }>('GET', '/demo/processes')).processes
    } catch {
      // told below as an empty tree
    }
    if (version !== this.#version) return
    const tree = h('div', { class: 'tree' })
    if (entries.length === 0) tree.append(h('p', { class: 'none' }, t('proc.none')))
    else tree.append(this.#branch(entries, null))
    this.#processes.replaceChildren(h('p', { class: 'by' }), tree)
  }

  #branch(all: Process[], parent: string | null): HTMLUListElement {
    const ids = new Set(all.map((p) => p.id))
    const here = all.filter((p) => (p.parent && ids.has(p.parent) ? p.parent : null) === parent)
    return h('ul', {}, ...here.map((process) => {
      const item = h('li', { 'data-process': process.id })
      const head = button(process.title, () => void this.#toggle(item))
      head.setAttribute('aria-expanded', 'false')
      item.append(head)
      const below = this.#branch(all, process.id)
      if (below.childElementCount) item.append(below)
      return item
    }))
  }

  async #toggle(item: HTMLElement): Promise<void> {
    const detail = item.querySelector(':scope > .detail')
    if (detail) {
      detail.remove()
      item.querySelector('button')?.setAttribute('aria-expanded', 'false')
      return
    }
    await this.#expand(item, new AbortController().signal).catch(() => {})
  }

  async #expand(item: HTMLElement, signal: AbortSignal): Promise<void> {
    for (const el of this.#processes.querySelectorAll('[aria-current]')) el.removeAttribute('aria-current')
    const head = item.querySelector('button')
    head?.setAttribute('aria-current', 'true')
    head?.setAttribute('aria-expanded', 'true')
    if (item.querySelector(':scope > .detail')) return
    const process = await this.#gateway.json<Process>('GET', `/demo/processes/${encodeURIComponent(item.dataset.process ?? '')}`, undefined, signal)
    if (item.querySelector(':scope > .detail')) return
    head?.after(this.#detail(process))
  }

  #detail(process: Process): HTMLElement {
    const documents = (process.documents ?? []).map((id) => {
      const title = this.#shelf.querySelector(`[data-document="${CSS.escape(id)}"] span`)?.textContent ?? id
      return h('li', {}, button(title, () => {
        void this.#read(id, '', new AbortController().signal).then((found) => {
          if (!found) return
          this.front('documents')
          this.#docs.scrollTop = 0
          this.#reader.focus({ preventScroll: true })
        })
      }))
    })
    return h(
      'div',
      { class: 'detail' },
      h('ol', {}, ...(process.steps ?? []).map((step) => h('li', {}, step))),
      documents.length ? h('ul', { class: 'links' }, ...documents) : null,
    )
  }

  /** Says in a panel who did this. */
  #by(panel: HTMLElement, text: string): void {
    const el = panel.querySelector<HTMLElement>('.by')
    if (el) el.textContent = text
  }
}

const languageNames = new Intl.DisplayNames([locale], { type: 'language' })

function languageName(code: string | undefined): string {
  return code ? (languageNames.of(code) ?? code) : ''
}

function date(iso: string | undefined): string {
  const at = new Date(iso ?? '')
  return Number.isNaN(at.getTime()) ? '' : new Intl.DateTimeFormat(locale, { dateStyle: 'long' }).format(at)
}
