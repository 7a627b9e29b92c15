/** Why there is no microphone. Each has its own remedy, so they are told apart. */
export type MicProblem =
  | 'denied' // the person or a stored setting said no
  | 'dismissed' // the question was closed without an answer
  | 'system' // the operating system keeps the browser from it
  | 'policy' // this page is embedded, or served, without leave to ask
  | 'none' // no device
  | 'busy' // another program holds it
  | 'insecure' // browsers give microphones to https and localhost only
  | 'unknown'

export class MicError extends Error {
  constructor(
    readonly problem: MicProblem,
    cause?: unknown,
  ) {
    super(`microphone: ${problem}`)
    this.name = 'MicError'
    this.cause = cause
  }
  override readonly cause: unknown
}

/** Names the problem behind what getUserMedia threw. */
export function micProblem(err: unknown): MicProblem {
  const name = err instanceof Error ? err.name : ''
  const text = err instanceof Error ? err.message.toLowerCase() : ''
  switch (name) {
    case 'NotAllowedError':
    case 'PermissionDeniedError':
      if (text.includes('system')) return 'system'
      if (text.includes('dismissed')) return 'dismissed'
      if (text.includes('policy') || text.includes('feature')) return 'policy'
      return 'denied'
    case 'SecurityError':
      return 'policy'
    case 'NotFoundError':
    case 'DevicesNotFoundError':
    case 'OverconstrainedError':
      return 'none'
    case 'NotReadableError':
    case 'TrackStartError':
    case 'AbortError':
      return 'busy'
  }
  return 'unknown'
}

/**
 * Opens the microphone with the browser's echo cancellation, which sees the assistant because its voice plays through a media
 * element. Throws MicError.
 */
export async function openMicrophone(): Promise<MediaStreamTrack> {
  // A page on plain http from another machine has no mediaDevices at all.
  if (!globalThis.isSecureContext || !navigator.mediaDevices?.getUserMedia) throw new MicError('insecure')
  let stream: MediaStream
  try {
    stream = await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 },
    })
  } catch (err) {
    throw new MicError(micProblem(err), err)
  }
  const track = stream.getAudioTracks()[0]
  if (!track) throw new MicError('none')
  return track
}
