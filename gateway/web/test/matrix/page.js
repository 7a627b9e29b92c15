// The clients of the matrix that live in a page. window.cell(name, end) takes one through the scenario.
import * as agents20 from '@openai/agents-realtime'
import * as agents03 from 'agents-realtime-0.3'
import OpenAI from 'openai'
import { OpenAIRealtimeWebRTC } from 'openai/realtime/webrtc'
import { z } from 'zod'
import { agents } from './agents.js'
import { console_, demo, openaiWebRTC } from './raw.js'
import { run, until } from './scenario.js'
import { where } from './where.js'

/** A microphone that says a fixture when told to, and an ear that asks the connection how much it heard. */
function media() {
  const context = new AudioContext()
  const out = context.createMediaStreamDestination()
  const element = document.createElement('audio')
  element.autoplay = true
  return {
    over: 'webrtc', until,
    transport: (sdk) => new sdk.OpenAIRealtimeWebRTC({ mediaStream: out.stream, audioElement: element }),
    url: ({ base }) => `${base}/v1/realtime/calls`,
    track: () => out.stream.getAudioTracks()[0],
    listen: (pc) => pc.addEventListener('track', (e) => (element.srcObject = e.streams[0])),
    say: async (fixture) => {
      await context.resume()
      const source = context.createBufferSource()
      source.buffer = await context.decodeAudioData(await (await fetch(`/speech/${fixture}.wav`)).arrayBuffer())
      source.connect(out)
      const over = new Promise((resolve) => (source.onended = resolve))
      source.start()
      await over
    },
    audio: async (wire) => {
      const pc = wire.pc ?? wire.connectionState.peerConnection
      for (const r of (await pc.getStats()).values()) if (r.type === 'inbound-rtp' && r.kind === 'audio') return Math.floor((r.totalAudioEnergy ?? 0) * 1e4)
      return 0
    },
    stop: async () => { if (context.state !== 'closed') await context.close() },
  }
}

const clients = {
  'agents-0.20-webrtc': (w, m) => agents(agents20, z, w, m),
  'agents-0.3-webrtc': (w, m) => agents(agents03, z, w, m, true),
  'openai-webrtc': (w, m) => openaiWebRTC({ OpenAI, OpenAIRealtimeWebRTC }, w, m),
  console: console_,
  demo,
}
window.cell = (name, end) => run(clients[name](where(end), media()), end)
/** How the client of openai says that a call ended which its application hung up over HTTP. */
window.hangUp = async (end) => {
  const client = clients['openai-webrtc'](where(end), media())
  await client.connect()
  await client.log.wait('session.updated')
  const reason = await client.hangUp()
  await client.close()
  return reason
}
