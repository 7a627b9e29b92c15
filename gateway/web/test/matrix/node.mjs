// The clients of the matrix that live in Node, over WebSocket.
import * as agents20 from '@openai/agents-realtime'
import * as agents03 from 'agents-realtime-0.3'
import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import { z } from 'zod'
import { fixture } from '../speech.mjs'
import { agents } from './agents.js'
import { openaiWebSocket } from './raw.js'
import { run } from './scenario.js'
import { where } from './where.js'

const rate = 24_000
const chunk = rate / 20 // samples in 50 ms

/** PCM16 at the API's rate: the fixtures have 16 kHz, and two samples of theirs are three of ours. */
function pcm24({ rate: from, pcm }) {
  const read = (i) => pcm.readInt16LE(2 * Math.min(i, pcm.length / 2 - 1))
  const n = Math.floor((pcm.length / 2) * (rate / from))
  const out = Buffer.alloc(Math.ceil(n / chunk) * chunk * 2)
  for (let i = 0; i < n; i++) {
    const at = (i * from) / rate
    const lower = Math.floor(at)
    out.writeInt16LE(Math.round(read(lower) + (read(lower + 1) - read(lower)) * (at - lower)), 2 * i)
  }
  return out
}

/** A microphone that never stops: 50 ms of sound by the clock, silence when nothing is to be said; and an ear that counts what came. */
function media(secure) {
  let heard = 0
  let send = null
  let words = Buffer.alloc(0)
  let spoken = () => {}
  const began = performance.now()
  let sent = 0
  const clock = setInterval(() => {
    for (const due = Math.floor((performance.now() - began) / 50); sent < due; sent++) {
      if (!send) continue
      const next = words.subarray(0, 2 * chunk)
      words = words.subarray(2 * chunk)
      send(new Uint8Array(next.length ? next : Buffer.alloc(2 * chunk)).buffer)
      if (next.length && !words.length) spoken()
    }
  }, 25)
  return {
    over: 'websocket', secure,
    transport: () => 'websocket',
    url: ({ base, model }) => `${base.replace(/^http/, 'ws')}/v1/realtime?model=${model}`,
    heard: (data) => (heard += data.byteLength),
    audio: () => heard,
    base64: (pcm) => Buffer.from(pcm).toString('base64'),
    say: (name, append) => new Promise((resolve) => {
      send = append
      spoken = resolve
      words = pcm24(fixture(name))
    }),
    stop: () => clearInterval(clock),
  }
}

const clients = {
  'agents-0.20-websocket': (w, m) => agents(agents20, z, w, m),
  'agents-0.3-websocket': (w, m) => agents(agents03, z, w, m, true),
  'openai-websocket': (w, m) => openaiWebSocket({ OpenAI, OpenAIRealtimeWS }, w, m),
}
export const cell = (name, end, secure) => run(clients[name](where(end), media(secure)), end)
