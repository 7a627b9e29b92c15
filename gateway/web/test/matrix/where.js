// One end that a client is pointed at: its base URL, the credential, the model's name, and whether a gateway stands there.
import { until } from './scenario.js'

export function where({ base, key, model, tools }) {
  const authorization = `Bearer ${key}`
  const json = { authorization, 'content-type': 'application/json' }
  return {
    base, key, model,
    secret: async () => {
      const reply = await fetch(`${base}/v1/realtime/client_secrets`, { method: 'POST', headers: json, body: JSON.stringify({ session: { type: 'realtime', model } }) })
      if (!reply.ok) throw new Error(`client_secrets: ${reply.status} ${await reply.text()}`)
      return (await reply.json()).value
    },
    /** Runs a tool as the client's application does: by the gateway's tools where it has them, else here. */
    runTool: async (call, session) => {
      if (!tools) return JSON.stringify({ status: 'ok', result: { id: 'welcome', title: 'Welcome', text: 'Good day.' } })
      const reply = await fetch(`${base}/v1/tools/calls`, { method: 'POST', headers: json, body: JSON.stringify({ ...call, session }) })
      const result = await reply.json()
      if (result.status !== 'ok') throw new Error(`the tool: ${reply.status} ${JSON.stringify(result)}`)
      return result.output
    },
    /** Until the far side knows that the call is over too. */
    over: async (id) => {
      if (!id) return
      await until(async () => {
        const reply = await fetch(`${base}/v1/realtime/calls/${id}`, { headers: { authorization } })
        return reply.status === 404 || (await reply.json()).status === 'ended'
      }, `over for ${base}`)
    },
  }
}
