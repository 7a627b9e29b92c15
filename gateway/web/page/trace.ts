import { byId } from './dom'

/** Root mean square of one analyser in 0..1 over a scale from −60 to −6 dBFS. */
class Level {
  #node: AnalyserNode | null = null
  #source: AudioNode | null = null
  #buffer = new Float32Array(1024)

  /** Listens to a stream; the stream goes nowhere from here, it plays through a media element. */
  connect(context: AudioContext, stream: MediaStream | null): void {
    this.#source?.disconnect()
    this.#source = this.#node = null
    if (!stream) return
    this.#node = context.createAnalyser()
    this.#node.fftSize = this.#buffer.length
    this.#source = context.createMediaStreamSource(stream)
    this.#source.connect(this.#node)
  }

  read(): number {
    if (!this.#node) return 0
    this.#node.getFloatTimeDomainData(this.#buffer)
    let sum = 0
    for (const x of this.#buffer) sum += x * x
    const db = 10 * Math.log10(sum / this.#buffer.length + 1e-12)
    return Math.min(1, Math.max(0, (db + 60) / 54))
  }
}

/** Seconds between two columns. */
const step = 0.06
const column = 4 // CSS pixels per column, one of them empty

/**
 * The line of the talk: time runs to the left, the assistant's voice stands above the line and the person's hangs below it. It shows
 * at a glance who speaks, who cut in, and how long the silence before an answer was. With reduced motion it is two still bars.
 */
export class Trace {
  readonly #canvas = byId<HTMLCanvasElement>('trace')
  readonly #person = new Level()
  readonly #assistant = new Level()
  #context: AudioContext | null = null
  #columns: { person: number; assistant: number; open: boolean; mark: string }[] = []
  #timer: ReturnType<typeof setInterval> | undefined
  #micOpen = false
  #colours = { person: '', assistant: '', soft: '', line: '', font: '' }
  readonly #still = matchMedia('(prefers-reduced-motion: reduce)')

  constructor() {
    const repaint = () => {
      this.#readColours()
      this.#paint()
    }
    for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)']) matchMedia(query).addEventListener('change', repaint)
    this.#still.addEventListener('change', repaint)
    new ResizeObserver(repaint).observe(this.#canvas)
    repaint()
  }

  /** Levels of the last column, for whoever asks. */
  get levels(): { person: number; assistant: number } {
    return this.#columns[this.#columns.length - 1] ?? { person: 0, assistant: 0 }
  }

  /** To be called in a click, so that the browser lets the meter run. */
  unlock(): void {
    this.#context ??= new AudioContext()
    void this.#context.resume().catch(() => {})
  }

  listen(side: 'person' | 'assistant', stream: MediaStream | null): void {
    if (!this.#context) return
    ;(side === 'person' ? this.#person : this.#assistant).connect(this.#context, stream)
  }

  setMicOpen(open: boolean): void {
    this.#micOpen = open
  }

  /** Forgets what was heard: it was another person's talk. */
  clear(): void {
    this.#columns = []
    this.#paint()
  }

  /** Writes a word at the newest column. */
  mark(text: string): void {
    const last = this.#columns[this.#columns.length - 1]
    if (last) last.mark = text
  }

  run(on: boolean): void {
    if (on === (this.#timer !== undefined)) return
    clearInterval(this.#timer)
    this.#timer = on ? setInterval(() => this.#tick(), step * 1_000) : undefined
    this.#paint()
  }

  #ticks = 0
  #tick(): void {
    this.#columns.push({ person: this.#micOpen ? this.#person.read() : 0, assistant: this.#assistant.read(), open: this.#micOpen, mark: '' })
    if (this.#columns.length > 1_000) this.#columns.splice(0, 400)
    if (document.visibilityState === 'hidden') return
    if (this.#still.matches && this.#ticks++ % 4 !== 0) return
    this.#paint()
  }

  #readColours(): void {
    const style = getComputedStyle(document.documentElement)
    const forced = matchMedia('(forced-colors: active)').matches
    const get = (name: string, system: string) => (forced ? system : style.getPropertyValue(name).trim())
    this.#colours = {
      person: get('--person', 'Highlight'),
      assistant: get('--assistant', 'CanvasText'),
      soft: get('--soft', 'CanvasText'),
      line: get('--field', 'GrayText'),
      font: getComputedStyle(document.body).fontFamily,
    }
  }

  #paint(): void {
    const { clientWidth: width, clientHeight: height } = this.#canvas
    const context = this.#canvas.getContext('2d')
    if (!context || !width) return
    const scale = devicePixelRatio || 1
    if (this.#canvas.width !== Math.round(width * scale) || this.#canvas.height !== Math.round(height * scale)) {
      this.#canvas.width = Math.round(width * scale)
      this.#canvas.height = Math.round(height * scale)
    }
    context.setTransform(scale, 0, 0, scale, 0, 0)
    context.clearRect(0, 0, width, height)
    if (this.#still.matches) this.#paintBars(context, width, height)
    else this.#paintColumns(context, width, height)
  }

  #paintColumns(context: CanvasRenderingContext2D, width: number, height: number): void {
    const middle = Math.round(height / 2)
    const room = middle - 2
    const n = Math.ceil(width / column)
    context.fillStyle = this.#colours.line
    context.fillRect(0, middle, width, 1)
    context.font = `11px ${this.#colours.font}`
    for (let i = 0; i < n; i++) {
      const c = this.#columns[this.#columns.length - 1 - i]
      if (!c) break
      const x = width - (i + 1) * column
      if (c.assistant > 0.02) {
        const size = Math.max(1, c.assistant * room)
        context.fillStyle = this.#colours.assistant
        context.fillRect(x, middle - size, column - 1, size)
      }
      if (c.open) {
        const size = Math.max(1, c.person * room)
        context.fillStyle = this.#colours.person
        context.fillRect(x, middle + 1, column - 1, size)
      }
      // The figure stands in the silence that it measures; where there was none to speak of, it has no place.
      if (c.mark && !this.#columns.slice(-i - 11, -i - 1).some((earlier) => earlier.assistant > 0.02)) {
        context.fillStyle = this.#colours.soft
        context.textAlign = 'right'
        context.fillText(c.mark, x - 4, middle - 4)
      }
    }
  }

  #paintBars(context: CanvasRenderingContext2D, width: number, height: number): void {
    const { person, assistant } = this.#timer === undefined ? { person: 0, assistant: 0 } : this.levels
    const bar = Math.floor((height - 6) / 2)
    for (const [y, level, colour] of [
      [0, assistant, this.#colours.assistant],
      [bar + 6, person, this.#colours.person],
    ] as const) {
      context.strokeStyle = this.#colours.line
      context.strokeRect(0.5, y + 0.5, width - 1, bar - 1)
      context.fillStyle = colour
      context.fillRect(1, y + 1, (width - 2) * level, bar - 2)
    }
  }
}
