import type { Gateway } from './gateway'
import type { WireEvent } from './wire'

/** One tool call as the person's own page may show it. */
export interface ToolRun {
  callId: string
  name: string
  class: string
  /** `running` until the gateway has answered, then one of the closed set of statuses. */
  status: string
  arguments: string
  output: string
  startedAt: number
  /** Milliseconds; null while it runs. */
  took: number | null
}

/**
 * Runs the calls that the model names: posts each to the gateway with the person's own bearer, hands the recorded output back
 * unchanged, and asks for the next response once all calls of one response are answered.
 */
export class ToolRuns {
  readonly runs: ToolRun[] = []
  #byId = new Map<string, ToolRun>()
  #pending = new Map<string, number>() // by response
  #classes: Record<string, string> = {}

  constructor(
    private readonly gateway: Gateway,
    private readonly port: { send: (event: object) => boolean; respond: () => void; session: () => string; changed: (run: ToolRun) => void },
    private readonly now: () => number = () => performance.now(),
  ) {}

  get(callId: string): ToolRun | undefined {
    return this.#byId.get(callId)
  }

  clear(): void {
    this.runs.length = 0
    this.#byId.clear()
  }

  /** What kind of thing each tool does, for the list. */
  setClasses(classes: Record<string, string>): void {
    this.#classes = classes
  }

  apply(e: WireEvent): void {
    if (e.type === 'hovor.tool' && e.call_id) {
      const run = this.#run(e.call_id, e.name ?? '')
      if (e.name) run.name = e.name
      if (e.class) run.class = e.class
      if (e.status) this.#status(run, e.status)
      this.port.changed(run)
    } else if (e.type === 'response.output_item.added' && e.item?.type === 'function_call' && e.item.call_id) {
      this.port.changed(this.#run(e.item.call_id, e.item.name ?? ''))
    } else if (e.type === 'response.output_item.done' && e.item?.type === 'function_call' && e.item.status === 'completed' && e.item.call_id) {
      const run = this.#run(e.item.call_id, e.item.name ?? '')
      if (run.arguments) return // once per call id
      run.name = e.item.name ?? run.name
      run.arguments = e.item.arguments || '{}'
      this.port.changed(run)
      void this.#execute(run, e.response_id ?? '')
    }
  }

  async #execute(run: ToolRun, response: string): Promise<void> {
    this.#pending.set(response, (this.#pending.get(response) ?? 0) + 1)
    const session = this.port.session()
    let output: string
    try {
      const result = await this.gateway.tool({ call_id: run.callId, name: run.name, arguments: run.arguments, session })
      output = result.output
      if (result.class) run.class = result.class
      this.#status(run, result.status)
    } catch {
      // Nothing was recorded, so nothing may be claimed. The gateway puts its own words in place of these.
      output = JSON.stringify({ status: 'failed' })
      this.#status(run, 'failed')
    }
    run.output = output
    this.port.changed(run)

    const left = (this.#pending.get(response) ?? 1) - 1
    if (left > 0) this.#pending.set(response, left)
    else this.#pending.delete(response)
    if (this.port.session() !== session) return // that call is over; its successor knows nothing of this tool call
    this.port.send({ type: 'conversation.item.create', item: { type: 'function_call_output', call_id: run.callId, output } })
    if (left <= 0) this.port.respond()
  }

  #status(run: ToolRun, status: string): void {
    run.status = status
    if (status !== 'running' && status !== 'started' && run.took === null) run.took = this.now() - run.startedAt
  }

  #run(callId: string, name: string): ToolRun {
    let run = this.#byId.get(callId)
    if (!run) {
      run = { callId, name, class: this.#classes[name] ?? '', status: 'running', arguments: '', output: '', startedAt: this.now(), took: null }
      this.#byId.set(callId, run)
      this.runs.push(run)
    }
    return run
  }
}
