// Clients that are written on raw events: the published openai package (its WebRTC class and its WebSocket), and the request sequences of
// the console and of the agents demo, which speak the beta dialect. Their tool is run as their documentation has it: the call is taken
// from response.done, its output sent back, and a response asked for.
import { Log } from './scenario.js'

const definition = { type: 'function', name: 'get_document', description: 'Reads one document.', parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'], additionalProperties: false } }
const ids = (prefix) => { let n = 0; return () => `${prefix}_${++n}` }

/** What all of them share. `wire` {send(event), close(), ended(id), callId()} is made by connect(log). */
function client({ over, transcribes, media, where, connect, update, say = media.say, hold = false, eventIds = null }) {
  const log = new Log()
  let wire
  const send = (event) => wire.send(eventIds ? { ...event, event_id: eventIds() } : event)
  const done = new Set()
  const early = [] // what came before connect() had returned
  const heard = (event) => {
    if (!wire) return early.push(event)
    log.add(event)
    if (event.type === 'session.created') send({ type: 'session.update', session: update })
    if (event.type === 'response.done') for (const item of event.response.output) if (item.type === 'function_call' && !done.has(item.call_id)) answer(item)
    if (event.type === 'response.output_audio.delta') play(event)
    if (over === 'websocket' && event.type === 'input_audio_buffer.speech_started') truncate()
  }
  async function answer(item) {
    done.add(item.call_id)
    const output = await where.runTool({ call_id: item.call_id, name: item.name, arguments: item.arguments }, callId())
    send({ type: 'conversation.item.create', item: { type: 'function_call_output', call_id: item.call_id, output } })
    send({ type: 'response.create' })
  }
  // Over WebSocket only the client knows what was played: as much as there was time for, and never more than what came.
  let playing = null
  function play({ item_id, content_index, delta }) {
    if (playing?.item_id !== item_id) playing = { item_id, content_index, began: performance.now(), ms: 0 }
    playing.ms += (delta.length * 3) / 4 / 48
  }
  function truncate() {
    if (!playing) return
    const { item_id, content_index, began, ms } = playing
    playing = null
    send({ type: 'conversation.item.truncate', item_id, content_index, audio_end_ms: Math.floor(Math.min(ms, performance.now() - began)) })
  }
  function interrupt() {
    send({ type: 'response.cancel' })
    if (over === 'webrtc') send({ type: 'output_audio_buffer.clear' })
    else truncate()
  }
  const callId = () => wire?.callId() ?? log.events.find((e) => e.type === 'hovor.call')?.call_id
  let id
  return {
    log, over, transcribes, callId,
    connect: async () => {
      wire = await connect(heard)
      for (const event of early) heard(event)
    },
    say: (fixture) => say(fixture, (pcm) => send({ type: 'input_audio_buffer.append', audio: media.base64(pcm) })),
    audio: () => media.audio(wire),
    text: (words) => {
      send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: words }] } })
      send({ type: 'response.create' })
    },
    hold: hold && {
      on: () => send({ type: 'session.update', session: hold }),
      press: () => {
        interrupt()
        send({ type: 'input_audio_buffer.clear' })
      },
      release: () => {
        send({ type: 'input_audio_buffer.commit' })
        send({ type: 'response.create' })
      },
      interrupt,
    },
    hangUp: () => wire.hangUp(),
    close: async () => {
      id ??= callId()
      await wire?.close(id)
      await media.stop?.()
    },
    ended: async () => {
      await wire.ended?.()
      await where.over(id)
    },
  }
}

const gaSession = (extra = {}) => ({ type: 'realtime', instructions: 'Help.', tools: [definition], tool_choice: 'auto', audio: { input: { transcription: { model: 'gpt-4o-mini-transcribe' } } }, ...extra })
const gaHold = { type: 'realtime', audio: { input: { turn_detection: null } } }

/** openai over WebRTC: the secret and the call by its HTTP client, the connection by its WebRTC class. */
export function openaiWebRTC({ OpenAI, OpenAIRealtimeWebRTC }, where, media) {
  const http = (apiKey) => new OpenAI({ apiKey, baseURL: `${where.base}/v1`, dangerouslyAllowBrowser: true, maxRetries: 0 })
  return client({
    over: 'webrtc', transcribes: true, media, where, update: gaSession(), hold: gaHold,
    async connect(heard) {
      const { value } = await http(where.key).realtime.clientSecrets.create({ session: { type: 'realtime', model: where.model } })
      const api = http(value)
      const rtc = new OpenAIRealtimeWebRTC()
      rtc.peerConnection.addTrack(media.track())
      media.listen(rtc.peerConnection)
      rtc.onEvent((event) => heard(event))
      let id
      let over = null
      rtc.onConnectionEvent((event) => { if (event.type === 'closed') over = event.reason })
      await rtc.connect({
        exchangeSdp: async (sdp, { signal }) => {
          const answer = await api.realtime.calls.create({ sdp, session: { type: 'realtime', model: where.model } }, { signal })
          id = answer.headers.get('Location').split('/').pop()
          return answer.text()
        },
      })
      return {
        pc: rtc.peerConnection, callId: () => id, send: (event) => rtc.send(event),
        close: () => rtc.close(),
        ended: () => { if (over !== 'local') throw new Error(`it ended as ${over}`) },
        hangUp: async () => {
          await api.realtime.calls.hangup(id)
          await media.until(() => over, 'closed by the far side after the hang-up')
          return over
        },
      }
    },
  })
}

/** openai over WebSocket, in Node. It insists on wss:, so `media.secure` is a TLS listener before the gateway. */
export function openaiWebSocket({ OpenAI, OpenAIRealtimeWS }, where, media) {
  return client({
    over: 'websocket', transcribes: true, media, where, update: gaSession(), hold: gaHold,
    connect(heard) {
      const api = new OpenAI({ apiKey: where.key, baseURL: `${media.secure.url}/v1`, maxRetries: 0 })
      const ws = new OpenAIRealtimeWS({ model: where.model, options: { ca: media.secure.ca } }, api)
      const ended = new Promise((resolve) => ws.socket.on('close', (code, reason) => resolve([code, String(reason)])))
      return new Promise((resolve, reject) => {
        ws.on('error', (err) => reject(err))
        ws.on('event', (event) => {
          if (event.type === 'response.output_audio.delta') media.heard(Buffer.from(event.delta, 'base64'))
          heard(event)
        })
        ws.socket.on('open', () => resolve(wire))
        const wire = {
          callId: () => undefined, send: (event) => ws.send(event), close: () => ws.close(),
          ended: async () => {
            const [code] = await ended
            if (code !== 1000) throw new Error(`closed with ${code}`)
          },
        }
      })
    },
  })
}

/** The exchange that both beta pages do by hand. */
async function byHand(media, heard, { prepare, exchange }) {
  const pc = new RTCPeerConnection()
  media.listen(pc)
  pc.addTrack(media.track())
  const channel = pc.createDataChannel('oai-events')
  channel.onmessage = (m) => heard(JSON.parse(m.data))
  prepare?.(pc)
  const offer = await pc.createOffer()
  await pc.setLocalDescription(offer)
  const answer = await exchange(offer.sdp)
  const id = answer.headers.get('Location')?.split('/').pop()
  await pc.setRemoteDescription({ type: 'answer', sdp: await answer.text() })
  await media.until(() => channel.readyState === 'open', 'open')
  return { pc, callId: () => id, send: (event) => channel.send(JSON.stringify(event)), close: () => { channel.close(); pc.close() } }
}

async function betaSecret(where, session) {
  const reply = await fetch(`${where.base}/v1/realtime/sessions`, {
    method: 'POST', headers: { authorization: `Bearer ${where.key}`, 'content-type': 'application/json' }, body: JSON.stringify(session),
  })
  return (await reply.json()).client_secret.value
}

/** The console: a session with a secret, a raw offer with ?model=, flat updates without a type, a UUID in every event, no push-to-talk. */
export function console_(where, media) {
  return client({
    over: 'webrtc', transcribes: false, media, where, update: { tools: [definition], tool_choice: 'auto' }, eventIds: () => crypto.randomUUID(),
    async connect(heard) {
      const key = await betaSecret(where, { model: where.model, voice: 'verse' })
      return byHand(media, heard, {
        exchange: (sdp) => fetch(`${where.base}/v1/realtime?model=${where.model}`, { method: 'POST', body: sdp, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/sdp' } }),
      })
    },
  })
}

/** The agents demo: the beta client of its time, a form of strings, an offer of PCMU alone, push-to-talk by turn_detection: null. */
export function demo(where, media) {
  const flat = {
    instructions: 'Help.', voice: 'sage', modalities: ['text', 'audio'], input_audio_format: 'g711_ulaw', output_audio_format: 'g711_ulaw',
    input_audio_transcription: { model: 'gpt-4o-mini-transcribe' }, turn_detection: { type: 'server_vad', threshold: 0.9, prefix_padding_ms: 300, silence_duration_ms: 500, create_response: true },
    tools: [definition], tool_choice: 'auto',
  }
  return client({
    over: 'webrtc', transcribes: true, media, where, update: flat, hold: { turn_detection: null }, eventIds: ids('event'),
    async connect(heard) {
      const key = await betaSecret(where, { model: where.model })
      const form = new FormData()
      return byHand(media, heard, {
        prepare: (pc) => pc.getTransceivers()[0].setCodecPreferences(RTCRtpReceiver.getCapabilities('audio').codecs.filter((c) => c.mimeType === 'audio/PCMU')),
        exchange: (sdp) => {
          form.append('sdp', sdp)
          form.append('session', JSON.stringify({ model: where.model, ...flat }))
          return fetch(`${where.base}/v1/realtime`, { method: 'POST', body: form, headers: { authorization: `Bearer ${key}` } })
        },
      })
    },
  })
}
