/**
 * The shapes on the wire that this client reads or writes: Realtime events as far as they are used here, and the gateway's own
 * `hovor.*` events. A field that a server may leave out is optional.
 */

export interface Content {
  type: string
  text?: string | null
  transcript?: string | null
}

export interface Item {
  id?: string
  type: string
  role?: string
  status?: string
  content?: Content[]
  call_id?: string
  name?: string
  arguments?: string
  output?: string
}

export interface TurnDetection {
  type: string
  [key: string]: unknown
}

export interface Session {
  id?: string
  type?: string
  model?: string
  audio?: { input?: { turn_detection?: TurnDetection | null } }
  [key: string]: unknown
}

/** Any event of the data channel. Fields beyond `type` depend on it and are read with care. */
export interface WireEvent {
  type: string
  event_id?: string
  item_id?: string
  previous_item_id?: string | null
  response_id?: string
  item?: Item
  delta?: string
  text?: string
  transcript?: string
  languages?: string[]
  session?: Session
  response?: { id?: string; status?: string; output?: Item[]; status_details?: { type?: string; reason?: string } | null }
  error?: { type?: string; code?: string | null; message?: string; event_id?: string | null }
  // hovor.*
  call_id?: string
  thread_id?: string
  person?: { id: string; name: string }
  assistant?: string
  language?: string
  audio_path?: string
  state?: string
  turn_id?: string
  mode?: string
  outcome?: string
  latency_ms?: Latency | null
  interrupted_after_ms?: number | null
  audio_ms?: number
  complete?: boolean
  name?: string
  class?: string
  status?: string
  request_id?: string
  epoch?: number
  tool?: string
  arguments?: unknown
  expires_in_ms?: number
  reason?: string
  message?: string
}

/** Milliseconds, each absent when it was not measured. `total` is from the end of the person's words to the first sound of the answer. */
export interface Latency {
  endpointing?: number | null
  provider_first_audio?: number | null
  total?: number | null
}

/** What the assistant and the call are doing, as the person is told. */
export type TalkState = 'listening' | 'hearing' | 'thinking' | 'speaking' | 'reconnecting' | 'ended'

const states: readonly string[] = ['listening', 'hearing', 'thinking', 'speaking', 'reconnecting', 'ended']

export function isTalkState(value: unknown): value is TalkState {
  return typeof value === 'string' && states.includes(value)
}

/** Reads one message of the data channel; null when it is not an event. */
export function parseEvent(data: unknown): WireEvent | null {
  if (typeof data !== 'string') return null
  try {
    const value: unknown = JSON.parse(data)
    if (typeof value !== 'object' || value === null || typeof (value as WireEvent).type !== 'string') return null
    return value as WireEvent
  } catch {
    return null
  }
}
