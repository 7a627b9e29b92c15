// The published client, unmodified, with nothing changed but its URL; its one tool posts to the gateway under the person's credential.
import { RealtimeAgent, RealtimeSession, tool } from '@openai/agents-realtime'
import { z } from 'zod'

const { searchParams } = new URL(location.href)
const gateway = searchParams.get('gateway')
const bearer = searchParams.get('bearer')
const state = (window.stock = { events: [], tools: [], history: [], error: null, session: null })

const getDocument = tool({
  name: 'get_document',
  description: 'Reads one document.',
  parameters: z.object({ id: z.string() }),
  execute: async (input, _context, details) => {
    const call = { call_id: details.toolCall.callId, name: 'get_document', arguments: details.toolCall.arguments, session: state.session.transport.callId }
    const res = await fetch(gateway + '/v1/tools/calls', {
      method: 'POST', headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }, body: JSON.stringify(call),
    })
    const result = await res.json()
    state.tools.push({ input, httpStatus: res.status, ...result })
    return result.output
  },
})

window.connect = async () => {
  const minted = await fetch(gateway + '/v1/realtime/client_secrets', {
    method: 'POST', headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify({ session: { type: 'realtime', model: 'gpt-realtime' } }),
  })
  const { value } = await minted.json()
  const agent = new RealtimeAgent({ name: 'stock', instructions: 'Help.', tools: [getDocument] })
  const session = (state.session = new RealtimeSession(agent, { model: 'gpt-realtime' }))
  session.on('error', (e) => (state.error = String(e.error?.message ?? JSON.stringify(e.error))))
  session.on('transport_event', (e) => state.events.push(e))
  session.on('history_updated', (h) => (state.history = h))
  await session.connect({ apiKey: value, url: gateway + '/v1/realtime/calls' })
}
window.say = (text) => state.session.sendMessage(text)
window.interrupt = () => state.session.interrupt()
window.hangUp = () => state.session.close()
window.energy = async () => {
  const pc = state.session.transport.connectionState.peerConnection
  for (const r of (await pc.getStats()).values()) if (r.type === 'inbound-rtp' && r.kind === 'audio') return r.totalAudioEnergy ?? 0
  return 0
}
