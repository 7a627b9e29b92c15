/**
 * The headless client of a Hovor gateway, without dependencies: `new Talk({bearer})`, `start`, and listen. The gateway serves its
 * built form as /client.js, so that client and server are always of one version.
 */
export { Call, type CallEnd } from './call'
export { Captions, guessLanguage, heardLength, type Caption, type Speaker, type Turn } from './captions'
export { Emitter } from './emitter'
export { Gateway, GatewayError, type About, type ScreenOutcome, type Secret, type ToolCall, type ToolResult } from './gateway'
export { bindHold, Hold, isEditable, type HoldOptions, type Release } from './hold'
export { MicError, micProblem, openMicrophone, type MicProblem } from './microphone'
export { Responses } from './responses'
export { Screens, type Performer, type ScreenRequest } from './screen'
export { Talk, type Ended, type Mode, type Phase, type Snapshot, type TalkOptions } from './talk'
export { ToolRuns, type ToolRun } from './tools'
export { isTalkState, parseEvent, type Item, type Latency, type Session, type TalkState, type TurnDetection, type WireEvent } from './wire'
