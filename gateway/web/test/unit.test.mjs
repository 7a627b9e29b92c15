// The headless client's logic, without a browser: the built module as the gateway serves it.
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Captions, Hold, Responses, Screens, ToolRuns, guessLanguage, heardLength, isTalkState, micProblem, parseEvent } from '../dist/client.js'

const spoken = (id, previous, transcript = null) => ({ type: 'conversation.item.added', previous_item_id: previous, item: { id, type: 'message', role: 'user', content: [{ type: 'input_audio', transcript }] } })
const answer = (id, previous) => ({ type: 'conversation.item.added', previous_item_id: previous, item: { id, type: 'message', role: 'assistant', status: 'in_progress', content: [] } })
const ids = (captions) => captions.lines.map((l) => l.id)

test('a hold is the union of its sources', () => {
  const log = []
  const hold = new Hold(() => log.push('press'), (why) => log.push(why))
  hold.press('pointer 1')
  hold.press('key Space')
  hold.press('key Space')
  hold.release('pointer 1')
  assert.equal(hold.held, true)
  hold.release('key Space')
  hold.release('key Space', 'cancel')
  hold.releaseAll('blur')
  assert.deepEqual(log, ['press', 'up'])
})

test('releaseAll ends every source at once, and says why', () => {
  const log = []
  const hold = new Hold(() => log.push('press'), (why) => log.push(why))
  hold.press('a')
  hold.press('b')
  hold.releaseAll('hidden')
  hold.release('a')
  assert.deepEqual(log, ['press', 'hidden'])
})

test('captions follow the order of items, not of arrival', () => {
  const c = new Captions()
  c.apply({ type: 'input_audio_buffer.committed', item_id: 'u1', previous_item_id: null })
  c.apply(spoken('u1', null))
  c.apply(answer('a1', 'u1'))
  c.apply({ type: 'response.output_audio_transcript.delta', item_id: 'a1', response_id: 'r1', delta: 'It is ' })
  c.apply({ type: 'conversation.item.input_audio_transcription.completed', item_id: 'u1', transcript: 'What time is it?' })
  assert.deepEqual(c.lines.map((l) => [l.speaker, l.text, l.final]), [['person', 'What time is it?', true], ['assistant', 'It is ', false]])
})

test('a transcript without an announced item still finds its place when the item comes', () => {
  const c = new Captions()
  c.apply(answer('a1', 'u1'))
  c.apply({ type: 'conversation.item.input_audio_transcription.delta', item_id: 'u2', delta: 'late' })
  c.apply(spoken('u1', 'root'))
  c.apply(spoken('u2', 'u1'))
  assert.deepEqual(ids(c), ['u1', 'u2', 'a1'])
})

test('items that are not lines keep the chain of order', () => {
  const c = new Captions()
  c.apply(spoken('u1', null, 'open it'))
  c.apply({ type: 'conversation.item.added', previous_item_id: 'u1', item: { id: 'f1', type: 'function_call', call_id: 'c1', name: 'open_document' } })
  c.apply(spoken('u2', 'o1', 'and then?'))
  c.apply({ type: 'conversation.item.added', previous_item_id: 'f1', item: { id: 'o1', type: 'function_call_output', call_id: 'c1' } })
  c.apply(answer('a1', 'o1'))
  assert.deepEqual(ids(c), ['u1', 'f1', 'a1', 'u2'])
})

test('what was not heard is known, and an interruption makes it final', () => {
  const c = new Captions()
  c.apply(answer('a1', null))
  c.apply({ type: 'response.output_audio_transcript.done', item_id: 'a1', response_id: 'r1', transcript: 'One two three four.' })
  c.apply({ type: 'hovor.heard', item_id: 'a1', audio_ms: 400, text: 'One two', complete: false })
  const line = c.get('a1')
  assert.deepEqual([line.heard, line.interrupted], [7, false])
  c.apply({ type: 'output_audio_buffer.cleared', response_id: 'r1' })
  assert.equal(line.interrupted, true)
  assert.equal(line.text.slice(line.heard), ' three four.')
})

test('the heard prefix may be told before the words are all there', () => {
  const c = new Captions()
  c.apply(answer('a1', null))
  c.apply({ type: 'hovor.heard', item_id: 'a1', audio_ms: 400, text: 'One two', complete: false })
  c.apply({ type: 'response.output_audio_transcript.done', item_id: 'a1', response_id: 'r1', transcript: 'One two three four.' })
  assert.equal(c.get('a1').heard, 7)
})

test('how far the voice is, is guessed by the time and corrected by what was heard', () => {
  let now = 0
  const c = new Captions('en', () => now)
  const text = 'One two three four five six seven.'
  c.apply({ type: 'output_audio_buffer.started', response_id: 'r1' })
  c.apply(answer('a1', null))
  c.apply({ type: 'response.output_audio_transcript.delta', item_id: 'a1', response_id: 'r1', delta: text })
  const line = c.get('a1')
  now = 400 // six characters, to the end of the word
  assert.equal(text.slice(0, c.spoken(line)), 'One two')
  c.apply({ type: 'hovor.heard', item_id: 'a1', audio_ms: 900, text: 'One two three', complete: false })
  assert.equal(text.slice(0, c.spoken(line)), 'One two three')
  now = 800
  assert.equal(text.slice(0, c.spoken(line)), 'One two three four five')
  c.apply({ type: 'output_audio_buffer.stopped', response_id: 'r1' })
  assert.deepEqual([line.voice, c.spoken(line)], [null, text.length])
})

test('words of earlier calls come before those of this one, and once', () => {
  const c = new Captions()
  c.apply(spoken('u2', null, 'and then?'))
  c.restore([{ id: 'u1', role: 'user', kind: 'spoken', text: 'hello' }, { id: 'a1', role: 'assistant', kind: 'spoken', text: 'Hel', complete: false }, { id: 'u2', role: 'user', kind: 'spoken', text: 'and then?' }, { id: 'o1', role: 'tool', kind: 'result', text: '{}' }])
  assert.deepEqual(ids(c), ['u1', 'a1', 'u2'])
  assert.deepEqual([c.get('a1').final, c.get('a1').interrupted], [true, true])
})

test('speech that a cleared buffer took away is no line', () => {
  const c = new Captions()
  c.apply({ type: 'input_audio_buffer.speech_started', item_id: 'u1' })
  c.apply({ type: 'input_audio_buffer.committed', item_id: 'u1', previous_item_id: null })
  c.apply({ type: 'input_audio_buffer.speech_started', item_id: 'u2' })
  assert.deepEqual(c.apply({ type: 'input_audio_buffer.cleared' }).map((l) => l.id), ['u2'])
  assert.deepEqual(ids(c), ['u1'])
})

test('a turn that is told again is still one turn', () => {
  const c = new Captions()
  c.apply(answer('a1', null))
  c.apply({ type: 'hovor.turn', turn_id: 't1', mode: 'open', outcome: 'answered', latency_ms: { total: 540 } })
  c.apply(answer('a2', 'a1'))
  c.apply({ type: 'hovor.turn', turn_id: 't1', mode: 'open', outcome: 'interrupted', latency_ms: { total: 540 }, interrupted_after_ms: 900 })
  assert.deepEqual([c.get('a1').turn.outcome, c.get('a1').interrupted, c.get('a2').turn], ['interrupted', true, null])
})

test('a fully heard item is not interrupted, whatever came before', () => {
  const c = new Captions()
  c.apply(answer('a1', null))
  c.apply({ type: 'response.output_audio_transcript.done', item_id: 'a1', response_id: 'r1', transcript: 'All of it.' })
  c.apply({ type: 'output_audio_buffer.cleared', response_id: 'r1' })
  c.apply({ type: 'hovor.heard', item_id: 'a1', audio_ms: 900, text: 'All of it.', complete: true })
  assert.deepEqual([c.get('a1').heard, c.get('a1').interrupted], [10, false])
})

test('the heard prefix is found whatever its white space', () => {
  assert.equal(heardLength('One  two\nthree', 'One two'), 8)
  assert.equal(heardLength('Příliš žluťoučký', 'Příliš'), 6)
  assert.equal(heardLength('a', 'a b c d'), 1)
  assert.equal(heardLength('', 'x'), 0)
})

test('a turn\'s figures go to its answer, once', () => {
  const c = new Captions()
  c.apply(answer('a1', null))
  c.apply({ type: 'hovor.turn', turn_id: 't1', mode: 'open', outcome: 'answered', latency_ms: { total: 540 } })
  c.apply({ type: 'hovor.turn', turn_id: 't2', mode: 'open', outcome: 'unanswered' })
  assert.equal(c.get('a1').turn.latency.total, 540)
})

test('a failed transcript says so instead of waiting for ever', () => {
  const c = new Captions()
  c.apply(spoken('u1', null))
  c.apply({ type: 'conversation.item.input_audio_transcription.failed', item_id: 'u1' })
  assert.deepEqual([c.get('u1').failed, c.get('u1').final], [true, true])
})

test('the language of a line is guessed only where nobody said it', () => {
  assert.equal(guessLanguage('Ukaž mi prosím smlouvu o údržbě', 'en'), 'cs')
  assert.equal(guessLanguage('Открой документ', 'en'), 'ru')
  assert.equal(guessLanguage('Öffne bitte die Preisliste und lies', 'en'), 'de')
  assert.equal(guessLanguage('zzz', 'de'), 'de')
})

test('one response at a time: the next waits for response.done', () => {
  const sent = []
  const r = new Responses((e) => sent.push(e.type))
  r.create()
  r.create()
  assert.deepEqual(sent, ['response.create'])
  r.apply({ type: 'response.created', response: { id: 'r1' } })
  r.create()
  assert.deepEqual(sent, ['response.create'])
  r.apply({ type: 'response.done', response: { id: 'r1' } })
  assert.deepEqual(sent, ['response.create', 'response.create'])
})

test('a refused response.create is asked again after the running one', () => {
  const sent = []
  const r = new Responses((e) => sent.push(e.type))
  r.create()
  r.apply({ type: 'error', error: { code: 'conversation_already_has_active_response' } })
  r.apply({ type: 'response.created', response: { id: 'rx' } })
  r.apply({ type: 'response.done', response: { id: 'rx' } })
  assert.equal(sent.filter((t) => t === 'response.create').length, 2)
})

test('an interruption cancels what runs, clears what sounds, and does nothing in silence', () => {
  const sent = []
  const r = new Responses((e) => sent.push(e.type))
  r.interrupt()
  assert.deepEqual(sent, [])
  r.apply({ type: 'response.created', response: { id: 'r1' } })
  r.apply({ type: 'output_audio_buffer.started', response_id: 'r1' })
  r.interrupt()
  assert.deepEqual(sent, ['response.cancel', 'output_audio_buffer.clear'])
  r.apply({ type: 'response.done', response: { id: 'r1' } })
  r.interrupt()
  assert.deepEqual(sent.slice(2), ['output_audio_buffer.clear'])
})

test('nobody is answered into a held key', () => {
  const sent = []
  const r = new Responses((e) => sent.push(e.type))
  r.hold(true)
  r.create()
  assert.deepEqual(sent, [])
  r.hold(false)
  assert.deepEqual(sent, ['response.create'])
})

function toolBench(tool) {
  const log = []
  let session = 'call_1'
  const runs = new ToolRuns({ tool }, { send: (e) => log.push(e), respond: () => log.push('respond'), session: () => session, changed: () => {} })
  return { log, runs, end: () => (session = '') }
}
const functionCall = (callId, status = 'completed') => ({ type: `response.output_item.${status === 'completed' ? 'done' : 'added'}`, response_id: 'r1', item: { type: 'function_call', status, call_id: callId, name: 'get_document', arguments: '{"id":"welcome"}' } })
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('the recorded output goes back byte for byte, and one response is asked for all calls of one response', async () => {
  const bench = toolBench(async (call) => ({ status: 'ok', output: `{"status":"ok","result":"ž ${call.call_id}"}`, class: 'read' }))
  bench.runs.apply(functionCall('c1', 'in_progress'))
  bench.runs.apply(functionCall('c1'))
  bench.runs.apply(functionCall('c2'))
  bench.runs.apply(functionCall('c2'))
  await settled()
  assert.deepEqual(bench.log.map((e) => e.item?.output ?? e), ['{"status":"ok","result":"ž c1"}', '{"status":"ok","result":"ž c2"}', 'respond'])
  assert.deepEqual(bench.runs.runs.map((r) => [r.callId, r.status, r.class, r.took !== null]), [['c1', 'ok', 'read', true], ['c2', 'ok', 'read', true]])
})

test('a tool that could not be asked is failed, and claims nothing', async () => {
  const bench = toolBench(async () => { throw new Error('down') })
  bench.runs.apply(functionCall('c1'))
  await settled()
  assert.equal(bench.log[0].item.output, '{"status":"failed"}')
  assert.equal(bench.runs.get('c1').status, 'failed')
})

test('a tool that outlives its call says nothing into the next one', async () => {
  const bench = toolBench(async () => { bench.end(); return { status: 'ok', output: 'x' } })
  bench.runs.apply(functionCall('c1'))
  await settled()
  assert.deepEqual(bench.log, [])
})

const screenRequest = (n, epoch = n, extra = {}) => ({ type: 'hovor.screen.request', request_id: `q${n}`, call_id: `c${n}`, epoch, tool: 'open_document', arguments: { id: 'welcome' }, expires_in_ms: 7000, ...extra })

test('a screen request is reported only after the page has done it', async () => {
  const reports = []
  let done
  const screens = new Screens({ outcome: async (...a) => reports.push(a) }, () => 'call_1', () => new Promise((resolve) => (done = resolve)))
  screens.apply(screenRequest(1))
  await settled()
  assert.deepEqual(reports, [])
  done('found')
  await settled()
  assert.deepEqual(reports, [['c1', 'q1', 'found', 'call_1']])
})

test('what the page could not establish is not reported, and an overtaken request is not even begun', async () => {
  const reports = []
  const began = []
  const screens = new Screens({ outcome: async (...a) => reports.push(a[1]) }, () => 'call_1', (r, signal) => {
    began.push(r.requestId)
    return r.requestId === 'q1' ? new Promise((_, reject) => signal.addEventListener('abort', reject)) : Promise.resolve('not_found')
  })
  screens.apply(screenRequest(1))
  await settled()
  screens.apply(screenRequest(2))
  screens.apply(screenRequest(3))
  await settled()
  assert.deepEqual([began, reports], [['q1', 'q3'], ['q3']])
})

test('a new call starts its epochs anew', async () => {
  let session = 'call_1'
  const reports = []
  const screens = new Screens({ outcome: async (...a) => reports.push(a[1]) }, () => session, async () => 'found')
  screens.apply(screenRequest(1, 9))
  await settled()
  session = 'call_2'
  screens.apply(screenRequest(2, 1))
  await settled()
  assert.deepEqual(reports, ['q1', 'q2'])
})

test('microphone problems are told apart', () => {
  const named = (name, message = '') => Object.assign(new Error(message), { name })
  for (const [err, want] of [
    [named('NotAllowedError', 'Permission denied'), 'denied'],
    [named('NotAllowedError', 'Permission dismissed'), 'dismissed'],
    [named('NotAllowedError', 'Permission denied by system'), 'system'],
    [named('NotFoundError'), 'none'],
    [named('NotReadableError'), 'busy'],
    [named('SecurityError'), 'policy'],
    ['odd', 'unknown'],
  ]) assert.equal(micProblem(err), want)
})

test('what is not an event is ignored', () => {
  for (const data of ['', '[]', 'null', '{"type":1}', '{', new ArrayBuffer(2)]) assert.equal(parseEvent(data), null)
  assert.equal(parseEvent('{"type":"x"}').type, 'x')
  assert.equal(isTalkState('toString'), false)
})
