/** Why a hold ended. `up` is the person's own letting go; all others close the microphone on the spot. */
export type Release = 'up' | 'cancel' | 'chord' | 'blur' | 'hidden' | 'leaving' | 'typing' | 'device' | 'disconnect' | 'discard' | 'limit' | 'mode'

/**
 * Push-to-talk as a union of sources: a pointer, a key and a switch may hold at once, and the talk goes on until the last lets go.
 * Pure; `bindHold` connects it to a page.
 */
export class Hold {
  #sources = new Set<string>()

  constructor(
    private readonly pressed: () => void,
    private readonly released: (why: Release) => void,
  ) {}

  get held(): boolean {
    return this.#sources.size > 0
  }

  has(source: string): boolean {
    return this.#sources.has(source)
  }

  press(source: string): void {
    const before = this.held
    this.#sources.add(source)
    if (!before) this.pressed()
  }

  /** Letting go of a source that does not hold changes nothing, so several release paths may report the same one. */
  release(source: string, why: Release = 'up'): void {
    if (this.#sources.delete(source) && !this.held) this.released(why)
  }

  toggle(source: string): void {
    if (this.has(source)) this.release(source)
    else this.press(source)
  }

  releaseAll(why: Release): void {
    if (!this.held) return
    this.#sources.clear()
    this.released(why)
  }
}

export interface HoldOptions {
  button: HTMLElement
  /** False while push-to-talk is not the mode or no call is up: presses then do nothing (releases always work). */
  enabled: () => boolean
  /** One press starts and the next ends, for people who cannot hold a key down. */
  toggles: () => boolean
  /** The key that holds from anywhere on the page outside of fields and controls. */
  key?: string
  window?: Window
}

/** Fields that take text: a key pressed there is typing. */
export function isEditable(target: EventTarget | null): boolean {
  const el = target as Partial<HTMLElement> | null
  if (!el || typeof el.matches !== 'function') return false
  if (el.isContentEditable || el.matches('textarea, select')) return true
  return el.matches('input') && !el.matches('[type=button],[type=submit],[type=reset],[type=checkbox],[type=radio],[type=range]')
}

/** Controls that have a use of their own for the space bar. */
function takesKey(target: EventTarget | null, button: HTMLElement): boolean {
  if (isEditable(target)) return true
  const el = target as Partial<HTMLElement> | null
  if (!el || typeof el.closest !== 'function') return false
  const control = el.closest('button, a[href], input, select, textarea, summary, [role=tab], [role=treeitem], [role=button]')
  return control !== null && control !== button
}

/** Connects a Hold to a button, a key and everything that must end a hold. Returns the function that disconnects it. */
export function bindHold(hold: Hold, options: HoldOptions): () => void {
  const { button, enabled, toggles, key = ' ' } = options
  const win = options.window ?? window
  const doc = win.document
  const stop = new AbortController()
  const on = (target: EventTarget, type: string, fn: (e: never) => void, capture = false): void =>
    target.addEventListener(type, fn as EventListener, { capture, signal: stop.signal })

  // Pointer. The capture keeps the release with the button wherever the pointer goes; window listeners stand behind it.
  on(button, 'pointerdown', (e: PointerEvent) => {
    if (e.button !== 0 || !enabled() || toggles()) return
    try {
      button.setPointerCapture(e.pointerId)
    } catch {
      // the pointer is already gone: its release arrives at the window
    }
    hold.press(`pointer ${e.pointerId}`)
  })
  const pointerGone = (why: Release) => (e: PointerEvent) => hold.release(`pointer ${e.pointerId}`, why)
  on(win, 'pointerup', pointerGone('up'), true)
  on(win, 'pointercancel', pointerGone('cancel'), true)
  on(button, 'lostpointercapture', pointerGone('up'))
  on(button, 'contextmenu', (e: Event) => e.preventDefault()) // a long touch is a hold, not a menu

  // A click without a pointer or key before it comes from assistive technology, which cannot hold: it toggles.
  on(button, 'click', (e: MouseEvent) => {
    if (!enabled() && !hold.has('switch')) return
    if (toggles() || e.detail === 0) hold.toggle('switch')
  })

  // Keys.
  on(
    win,
    'keydown',
    (e: KeyboardEvent) => {
      if (e.key === 'Escape' && hold.held) {
        e.preventDefault()
        hold.releaseAll('discard')
        return
      }
      if (hold.held && (e.ctrlKey || e.altKey || e.metaKey)) {
        hold.releaseAll('chord') // Ctrl+Tab and the like take the key-up away with them
        return
      }
      const onButton = e.target === button && e.key === 'Enter'
      if ((e.key !== key && !onButton) || e.ctrlKey || e.altKey || e.metaKey || e.shiftKey) return
      if (takesKey(e.target, button) || (!enabled() && !hold.held)) return
      e.preventDefault() // no scrolling, no click of the button
      if (e.repeat) return
      if (toggles()) hold.toggle('switch')
      else hold.press(`key ${e.code}`)
    },
    true,
  )
  on(
    win,
    'keyup',
    (e: KeyboardEvent) => {
      const source = `key ${e.code}`
      if (e.target === button && e.key === key && enabled()) e.preventDefault() // the hold was the press
      hold.release(source)
    },
    true,
  )

  // Whatever takes the person's attention or the page away.
  on(win, 'blur', () => hold.releaseAll('blur'))
  on(win, 'pagehide', () => hold.releaseAll('leaving'))
  on(doc, 'visibilitychange', () => doc.visibilityState === 'hidden' && hold.releaseAll('hidden'))
  on(doc, 'freeze', () => hold.releaseAll('hidden'))
  on(doc, 'focusin', (e: FocusEvent) => isEditable(e.target) && hold.releaseAll('typing'))

  return () => {
    stop.abort()
    hold.releaseAll('disconnect')
  }
}
