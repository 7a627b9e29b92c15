import type { Session } from './wire'

/** A refusal by the gateway in the Realtime error form, or `code: "unreachable"` when no answer came at all. */
export class GatewayError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message)
    this.name = 'GatewayError'
  }
}

export interface Secret {
  value: string
  expires_at?: number
  session?: Session
}

export interface ToolCall {
  call_id: string
  name: string
  arguments: string
  session: string
}

export interface ToolResult {
  call_id: string
  status: string
  /** Exactly what the model may be given; sent back byte for byte. */
  output: string
  receipt?: string
  class?: string
}

export interface About {
  version?: string
  audio_path?: string
  providers?: { name?: string; kind?: string; where?: string }[]
  recording?: string
}

/** One utterance of a thread; of the assistant's only what was heard. */
export interface ThreadItem {
  id: string
  role: string
  kind: string
  text: string
  complete?: boolean
}

/** Named as the Realtime API names it; a gateway maps it to what its provider has. */
const transcriber = 'gpt-4o-mini-transcribe'

/** The gateway's HTTP side for one person. The person's bearer stays here and goes into no event. */
export class Gateway {
  constructor(
    readonly base: string,
    private readonly bearer: () => string,
  ) {}

  mint(model: string, threadId: string | null, signal?: AbortSignal): Promise<Secret> {
    // Captions of the person's own words come only to who asks for them.
    const audio = { input: { transcription: { model: transcriber } } }
    const body: Record<string, unknown> = { session: { type: 'realtime', model, audio } }
    if (threadId) body.hovor = { thread_id: threadId }
    return this.json<Secret>('POST', '/v1/realtime/client_secrets', body, signal)
  }

  /** Sends the SDP offer under the secret; gives the answer and the call's id, the last segment of Location. */
  async open(secret: string, offer: string, signal?: AbortSignal): Promise<{ answer: string; callId: string }> {
    const res = await this.fetch('/v1/realtime/calls', {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/sdp', accept: 'application/sdp' },
      body: offer,
      signal,
    })
    const callId = (res.headers.get('location') ?? '').split('/').pop() ?? ''
    return { answer: await res.text(), callId }
  }

  /** Ends a call. It is no failure when the call is already gone. It outlives the page. */
  async hangup(callId: string): Promise<void> {
    try {
      const res = await this.fetch(`/v1/realtime/calls/${encodeURIComponent(callId)}/hangup`, { method: 'POST', headers: this.headers(), keepalive: true })
      await res.text() // to its end, else the browser calls it aborted
    } catch (err) {
      if (!(err instanceof GatewayError) || err.status !== 404) throw err
    }
  }

  tool(call: ToolCall): Promise<ToolResult> {
    return this.json<ToolResult>('POST', '/v1/tools/calls', call)
  }

  /** Reports what the page itself did for a screen tool. */
  async outcome(callId: string, requestId: string, outcome: ScreenOutcome, session: string): Promise<void> {
    const res = await this.fetch(`/v1/tools/calls/${encodeURIComponent(callId)}/outcome`, {
      method: 'POST',
      headers: { ...this.headers(), 'content-type': 'application/json' },
      body: JSON.stringify(session ? { request_id: requestId, outcome, session } : { request_id: requestId, outcome }),
    })
    await res.text() // to its end, so that the connection is free again
  }

  /** The effect class of each tool that this person's assistant may call, by name. */
  async classes(): Promise<Record<string, string>> {
    const { effects = {} } = await this.json<{ effects?: Record<string, { class?: string }> }>('GET', '/v1/tools')
    return Object.fromEntries(Object.entries(effects).map(([name, effect]) => [name, effect.class ?? '']))
  }

  /** What was said on one of the person's own threads, in order; null when there is no such thread. */
  async thread(id: string): Promise<ThreadItem[] | null> {
    try {
      return (await this.json<{ items?: ThreadItem[] }>('GET', `/v1/threads/${encodeURIComponent(id)}`)).items ?? []
    } catch (err) {
      if (err instanceof GatewayError && err.status === 404) return null
      throw err
    }
  }

  about(): Promise<About> {
    return this.json<About>('GET', '/v1/about')
  }

  async json<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    const headers = this.headers()
    if (body !== undefined) headers['content-type'] = 'application/json'
    const res = await this.fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal })
    return (await res.json()) as T
  }

  private headers(): Record<string, string> {
    return { authorization: `Bearer ${this.bearer()}`, accept: 'application/json' }
  }

  private async fetch(path: string, init: RequestInit): Promise<Response> {
    let res: Response
    try {
      res = await fetch(this.base + path, { ...init, credentials: 'omit', cache: 'no-store' })
    } catch (err) {
      if (err instanceof DOMException && err.name === 'AbortError') throw err
      throw new GatewayError(0, 'unreachable', 'the gateway does not answer')
    }
    if (!res.ok) throw await refusal(res)
    return res
  }
}

export type ScreenOutcome = 'found' | 'not_found'

async function refusal(res: Response): Promise<GatewayError> {
  let code = `http_${res.status}`
  let message = res.statusText || `HTTP ${res.status}`
  try {
    const body = (await res.json()) as { error?: { code?: string; message?: string } }
    if (body.error?.code) code = body.error.code
    if (body.error?.message) message = body.error.message
  } catch {
    // not the Realtime form: the status line must do
  }
  return new GatewayError(res.status, code, message)
}
