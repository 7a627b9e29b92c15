// What every stock client goes through in every cell of the matrix, in a page and in Node alike. It waits for what it is told and for
// what is heard, never for a time; a step that does not come says what it waited for.
const deadline = 40_000

/** The steps, by their letters in the table. */
export const steps = {
  C: 'connect: the session is created and confirmed as asked',
  S: 'speak: the person\'s words are heard, and written down where the client asks for that',
  A: 'be answered: the audio really arrives',
  I: 'be interrupted, by speaking',
  P: 'push-to-talk, and an interruption by the client\'s own call',
  T: 'one round trip of a tool',
  E: 'a clean end',
}

/** Beta names as the GA form has them, so that one scenario reads both. */
const ga = (type) => type
  .replace(/^response\.(audio|audio_transcript|text)\./, 'response.output_$1.')
  .replace(/^conversation\.item\.created$/, 'conversation.item.added')

/** What a client was sent, in order, and who waits for more of it. */
export class Log {
  events = []
  #waiting = new Set()

  add(event) {
    this.events.push({ ...event, type: ga(event.type) })
    for (const look of this.#waiting) look()
  }

  /** The first event after `from` that matches: a type, or a predicate. */
  wait(match, { from = 0, what = String(match) } = {}) {
    const fits = typeof match === 'string' ? (e) => e.type === match : match
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#waiting.delete(look)
        reject(new Error(`no ${what} after ${JSON.stringify(this.types(from))}`))
      }, deadline)
      const look = () => {
        const found = this.events.slice(from).find(fits)
        if (!found) return
        clearTimeout(late)
        this.#waiting.delete(look)
        resolve(found)
      }
      this.#waiting.add(look)
      look()
    })
  }

  get length() { return this.events.length }

  /** The types from there on, runs of deltas once. */
  types(from = 0) {
    return this.events.slice(from).map((e) => e.type + (e.type === 'error' ? ` (${e.error?.code}: ${e.error?.message})` : '')).filter((t, i, all) => t !== all[i - 1]).slice(-40)
  }
}

/** Until the condition holds. */
export async function until(condition, what) {
  const end = performance.now() + deadline
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not ${what} in ${deadline / 1000} s`)
    await new Promise((r) => setTimeout(r, 50))
  }
}

/**
 * Takes a client through all it has. A client has: log, over ('webrtc' or 'websocket'), transcribes, connect(), audio() (what was heard
 * so far, growing), say(fixture), text(words), close(), ended(); and hold (press, release, interrupt) where it has push-to-talk.
 * Returns {done: letters, took: milliseconds by letter, direct, failed: what went wrong, or null}.
 */
export async function run(client, { direct = false } = {}) {
  const { log } = client
  let done = ''
  const took = {}
  try {
    for (const [letter, step] of Object.entries(walk)) {
      if (letter === 'P' && !client.hold) continue
      const began = performance.now()
      await step(client, log)
      took[letter] = Math.round(performance.now() - began)
      done += letter
      if (direct && !isDirect(log)) return { done, took, direct: false, failed: null }
    }
  } catch (err) {
    return { done, took, direct: isDirect(log), failed: `${Object.keys(walk).find((l) => !done.includes(l) && (l !== 'P' || client.hold))}: ${err.stack ?? err}` }
  } finally {
    await client.close?.()
  }
  // To cancel what has just ended is a race that every client of this protocol loses now and then.
  const refused = log.events.filter((e) => e.type === 'error' && e.error.code !== 'response_cancel_not_active')
  return { done, took, direct: isDirect(log), failed: refused.length ? `errors: ${JSON.stringify(refused.map((e) => e.error))}` : null }
}

/** In direct mode nobody but the provider speaks to the client, so the gateway's own first event never comes. */
const isDirect = (log) => !log.events.some((e) => e.type === 'hovor.call')

const walk = {
  async C(client, log) {
    await client.connect()
    await log.wait('session.created')
    await log.wait('session.updated')
    if (log.events.find((e) => e.type.startsWith('session.')).type !== 'session.created') throw new Error('session.created is not first')
  },

  // Who is not understood says it again: a machine with too much to do may swallow a piece of the microphone.
  async S(client, log) {
    for (let left = 3; ; left--) {
      client.mark = log.length
      client.say('story')
      await log.wait('input_audio_buffer.speech_started', { from: client.mark })
      const { item_id: id } = await log.wait('input_audio_buffer.committed', { from: client.mark })
      if (!client.transcribes) return
      const { transcript } = await log.wait((e) => e.type === 'conversation.item.input_audio_transcription.completed' && e.item_id === id, { what: 'transcript' })
      if (/story/i.test(transcript)) return
      if (left === 1) throw new Error(`heard ${JSON.stringify(transcript)}`)
      await log.wait('response.done', { from: client.mark })
    }
  },

  async A(client, log) {
    await log.wait('response.created', { from: client.mark })
    await log.wait('response.output_audio_transcript.delta', { from: client.mark })
    if (client.over === 'webrtc') await log.wait('output_audio_buffer.started', { from: client.mark })
    await until(async () => (await client.audio()) > 0, 'audible')
  },

  async I(client, log) {
    const from = log.length
    const { response } = log.events.findLast((e) => e.type === 'response.created')
    client.say('stop')
    await log.wait('input_audio_buffer.speech_started', { from })
    if (client.over === 'webrtc') await log.wait('output_audio_buffer.cleared', { from })
    await log.wait('conversation.item.truncated', { from })
    await log.wait((e) => e.type === 'response.done' && e.response.id === response.id, { what: 'response.done of what was interrupted' })
    // What answers the interruption is left to sound for a client that can interrupt by itself, which is what it does next.
    const next = client.hold ? 'response.created' : 'response.done'
    await log.wait((e) => e.type === next && e.response.id !== response.id, { from, what: `${next} of the answer to the interruption` })
  },

  async P(client, log) {
    let from = log.length
    await client.hold.on()
    const updated = await log.wait('session.updated', { from })
    const detection = 'audio' in updated.session ? updated.session.audio.input.turn_detection : updated.session.turn_detection
    if (detection !== null) throw new Error(`turn_detection is ${JSON.stringify(detection)}`)
    client.hold.press()
    from = log.length
    const before = await client.audio()
    await client.say('hello')
    client.hold.release()
    await log.wait('input_audio_buffer.committed', { from })
    const { response } = await log.wait('response.created', { from })
    await log.wait((e) => e.type === 'response.output_audio_transcript.delta' && e.response_id === response.id, { what: 'words of the answer' })
    await until(async () => (await client.audio()) > before, 'audible')
    client.hold.interrupt()
    if (client.over === 'webrtc') await log.wait('output_audio_buffer.cleared', { from })
    else await log.wait('conversation.item.truncated', { from })
    await log.wait((e) => e.type === 'response.done' && e.response.id === response.id, { what: 'response.done of what was interrupted', from })
  },

  async T(client, log) {
    const from = log.length
    client.text('read the document welcome')
    const { item } = await log.wait((e) => e.type === 'response.output_item.done' && e.item.type === 'function_call', { from, what: 'function_call' })
    if (item.status !== 'completed' || item.name !== 'get_document' || JSON.parse(item.arguments).id !== 'welcome') throw new Error(`called ${JSON.stringify(item)}`)
    await log.wait((e) => e.type === 'response.done' && e.response.output.some((i) => i.call_id === item.call_id), { from, what: 'response.done with the call in it' })
    await log.wait((e) => e.type === 'conversation.item.added' && e.item.type === 'function_call_output' && e.item.call_id === item.call_id, { from, what: 'output of the tool in the conversation' })
    const told = log.events.findIndex((e) => e.item?.type === 'function_call_output')
    const { response } = await log.wait('response.created', { from: told })
    await log.wait((e) => e.type === 'response.output_audio_transcript.delta' && e.response_id === response.id, { what: 'words about what the tool found' })
    const before = await client.audio()
    await until(async () => (await client.audio()) > before, 'audible')
  },

  async E(client) {
    await client.close()
    await client.ended()
  },
}
