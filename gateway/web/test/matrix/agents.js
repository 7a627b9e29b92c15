// The published @openai/agents-realtime, any version, WebRTC in a page and WebSocket in Node: nothing but its URL is ours.
import { Log, until } from './scenario.js'

/** `sdk` is the package (`old`: before 0.4), `z` zod, `where` {base, key, model, runTool(call)}, `media` {say, transport options, audio}. */
export function agents(sdk, z, where, media, old = false) {
  const log = new Log()
  const getDocument = sdk.tool({
    name: 'get_document',
    description: 'Reads one document.',
    parameters: z.object({ id: z.string() }),
    execute: (_input, _context, details) => where.runTool({ call_id: details.toolCall.callId, name: 'get_document', arguments: details.toolCall.arguments }, client.callId()),
  })
  const agent = new sdk.RealtimeAgent({ name: 'stock', instructions: 'Help.', tools: [getDocument] })
  const session = new sdk.RealtimeSession(agent, { model: where.model, transport: media.transport(sdk) })
  const { transport } = session
  const faults = []
  transport.on('*', (event) => log.add(event))
  session.on('error', (e) => faults.push(e.error))
  session.on('audio', (e) => media.heard?.(e.data))
  const client = {
    log, over: media.over, transcribes: true, faults,
    callId: () => transport.callId ?? log.events.find((e) => e.type === 'hovor.call')?.call_id,
    connect: async () => session.connect({ apiKey: await where.secret(), url: media.url(where) }),
    say: (fixture) => media.say(fixture, (pcm) => session.sendAudio(pcm)),
    audio: () => media.audio(transport),
    text: (words) => session.sendMessage(words),
    hold: {
      // Version 0.3.0 trips over turnDetection: null in its own options, so its applications send the event.
      on: () => old
        ? transport.sendEvent({ type: 'session.update', session: { type: 'realtime', audio: { input: { turn_detection: null } } } })
        : transport.updateSessionConfig({ audio: { input: { turnDetection: null } } }),
      press: () => {
        session.interrupt()
        transport.sendEvent({ type: 'input_audio_buffer.clear' })
      },
      release: () => {
        transport.sendEvent({ type: 'input_audio_buffer.commit' })
        transport.sendEvent({ type: 'response.create' })
      },
      interrupt: () => session.interrupt(),
    },
    close: async () => {
      client.id ??= client.callId()
      session.close()
      await media.stop?.()
    },
    ended: async () => {
      await until(() => transport.status === 'disconnected', 'disconnected')
      await where.over(client.id)
    },
  }
  return client
}
