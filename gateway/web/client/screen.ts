import type { Gateway, ScreenOutcome } from './gateway'
import type { WireEvent } from './wire'

export interface ScreenRequest {
  requestId: string
  callId: string
  epoch: number
  tool: string
  arguments: Record<string, unknown>
}

/**
 * Does one screen tool on the page. It resolves with `found` only when the person can see it, with `not_found` when the page knows
 * that there is no such thing, and rejects when it does not know. `signal` fires when nobody waits any longer.
 */
export type Performer = (request: ScreenRequest, signal: AbortSignal) => Promise<ScreenOutcome>

/**
 * Takes `hovor.screen.request` one after another, lets the page perform each, and reports what came of it. What the page could not
 * establish is not reported at all: the gateway then calls it pending.
 */
export class Screens {
  #queue: Promise<void> = Promise.resolve()
  #newest = 0 // epoch of the newest request of this session
  #session = ''
  #patience: AbortController | null = null

  constructor(
    private readonly gateway: Gateway,
    private readonly session: () => string,
    private readonly perform: Performer,
  ) {}

  apply(e: WireEvent): void {
    if (e.type !== 'hovor.screen.request' || !e.request_id || !e.call_id || !e.tool) return
    const args = typeof e.arguments === 'string' ? parseObject(e.arguments) : e.arguments
    const request: ScreenRequest = {
      requestId: e.request_id,
      callId: e.call_id,
      epoch: e.epoch ?? 0,
      tool: e.tool,
      arguments: typeof args === 'object' && args !== null ? (args as Record<string, unknown>) : {},
    }
    const session = this.session()
    if (session !== this.#session) {
      this.#session = session
      this.#newest = 0
    }
    this.#newest = Math.max(this.#newest, request.epoch)
    this.#patience?.abort() // the newest wish is the one that counts
    const patience = (this.#patience = new AbortController())
    const timer = setTimeout(() => patience.abort(), e.expires_in_ms ?? 7_000)
    this.#queue = this.#queue.then(() => this.#do(request, session, patience.signal)).finally(() => clearTimeout(timer))
  }

  async #do(request: ScreenRequest, session: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted || session !== this.#session || request.epoch < this.#newest) return // overtaken by a newer wish
    try {
      const outcome = await this.perform(request, signal)
      await this.gateway.outcome(request.callId, request.requestId, outcome, session)
    } catch {
      // not established, or too late to tell
    }
  }
}

function parseObject(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
