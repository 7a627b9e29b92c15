// The page in Chromium, against a stand-in gateway whose other end is a real peer connection.
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { startServer } from '../testserver/server.mjs'
import { executablePath, farSide, launch, openPage, says } from './browser.mjs'

const skip = executablePath ? false : 'no Chromium found: install it or set HOVOR_CHROMIUM'
let browser, fake, far, page

before(async () => {
  if (!skip) browser = await launch()
})
after(() => browser?.close())
beforeEach(async () => {
  if (!skip) {
    fake = await startServer()
    far = await farSide(browser, fake)
  }
})
afterEach(async () => {
  const faults = page?.faults ?? []
  await page?.context().close()
  page = undefined
  await far?.close()
  await fake?.close()
  assert.deepEqual(faults, [], 'the page threw, or broke its own content policy')
})

/** Keeps the tracks that the page gets, and writes down when its microphone opens and closes. */
async function watched(options = {}) {
  const { before = () => {}, ...rest } = options
  page = await openPage(browser, 'about:blank', { allow: false, ...rest })
  await page.context().grantPermissions(['microphone'], { origin: fake.url })
  await page.addInitScript(() => {
    window.tracks = []
    const media = navigator.mediaDevices
    const get = media?.getUserMedia.bind(media)
    if (get) media.getUserMedia = async (c) => {
      const stream = await get(c)
      window.tracks.push(...stream.getTracks())
      return stream
    }
    window.log = []
    addEventListener('DOMContentLoaded', () => {
      new MutationObserver((records) => {
        for (const r of records) window.log.push({ what: r.attributeName, value: document.documentElement.getAttribute(r.attributeName), at: performance.now() })
      }).observe(document.documentElement, { attributeFilter: ['data-mic', 'data-phase'] })
    })
  })
  await page.addInitScript(before)
  await page.goto(fake.url)
  return page
}

async function connect(mode = 'open') {
  if (mode === 'ptt') await page.check('#mode input[value=ptt]', { force: true })
  await page.click('#start')
  await says(page, 'phase', 'live')
  await far.greet()
}

const micIs = (value) => page.waitForFunction((v) => document.documentElement.dataset.mic === v, value)
const box = async (selector) => {
  const b = await page.locator(selector).boundingBox()
  return { x: b.x + b.width / 2, y: b.y + b.height / 2 }
}
const pressPointer = async () => {
  const at = await box('#hold')
  await page.mouse.move(at.x, at.y)
  await page.mouse.down()
}
/** Waits on the page's own clock until the hold is long enough to count as speech. */
const heldLongEnough = async () => {
  await micIs('open')
  await page.waitForFunction(() => performance.now() - window.log.filter((l) => l.what === 'data-mic' && l.value === 'open').pop().at > 200)
}

describe('push-to-talk', { skip }, () => {
  const lettingGo = {
    'the pointer lifted far outside of the button': ['pointerup', async () => { await page.mouse.move(5, 300); await page.mouse.up() }],
    'a pointer that the system cancelled': ['pointercancel', () => page.evaluate(() => window.dispatchEvent(new PointerEvent('pointercancel', { pointerId: window.pointer, bubbles: true })))],
    'a pointer capture that was taken away': ['lostpointercapture', () => page.evaluate(() => document.getElementById('hold').releasePointerCapture(window.pointer))],
    'a window that lost the focus': ['blur', () => page.evaluate(() => window.dispatchEvent(new Event('blur')))],
    'a tab that was hidden': ['visibilitychange', () => page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' })
      document.dispatchEvent(new Event('visibilitychange'))
    })],
    'a page that is left': ['pagehide', () => page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pagehide')))],
    'the focus moved into the text field': ['focusin', () => page.evaluate(() => document.getElementById('words').focus())],
    'a chord with Ctrl': ['keydown', () => page.keyboard.down('Control')],
    'a chord with Alt': ['keydown', () => page.keyboard.down('Alt')],
    'Escape': ['keydown', () => page.keyboard.press('Escape')],
    'a microphone that went away': ['ended', () => page.evaluate(() => window.tracks[0].dispatchEvent(new Event('ended')))],
    'the person hung up': ['click', () => page.evaluate(() => document.getElementById('hangup').click())],
  }
  for (const [name, [event, act]] of Object.entries(lettingGo)) {
    test(`closes the microphone within 100 ms: ${name}`, async () => {
      await watched()
      await connect('ptt')
      await page.evaluate((type) => {
        const note = () => (window.actedAt ??= performance.now())
        document.getElementById('hold').addEventListener('pointerdown', (e) => (window.pointer = e.pointerId))
        for (const target of [window, window.tracks[0]]) target.addEventListener(type, note, true)
      }, event)
      await pressPointer()
      await heldLongEnough()
      await page.evaluate(() => {
        window.actedAt = undefined
        window.log.length = 0
      })
      await act()
      const [mic] = await (await page.waitForFunction(() => {
        const closed = window.log.find((l) => l.what === 'data-mic' && l.value === 'closed')
        return closed && window.actedAt !== undefined ? [{ at: closed.at, acted: window.actedAt, enabled: window.tracks[0].enabled && window.tracks[0].readyState === 'live' }] : false
      })).jsonValue()
      assert.equal(mic.enabled, false, 'the track still carries sound')
      assert.ok(mic.at - mic.acted <= 100, `closed after ${(mic.at - mic.acted).toFixed(0)} ms`)
    })
  }

  test('closes the microphone within 100 ms: the far side is gone', async () => {
    await watched()
    await connect('ptt')
    await pressPointer()
    await heldLongEnough()
    await page.evaluate(() => void (window.log.length = 0))
    await far.drop()
    await page.waitForFunction(() => window.log.some((l) => l.what === 'data-phase') && window.log.some((l) => l.what === 'data-mic' && l.value === 'closed'))
    const { mic, phase } = await page.evaluate(() => ({ mic: window.log.find((l) => l.what === 'data-mic').at, phase: window.log.find((l) => l.what === 'data-phase').at }))
    assert.ok(mic - phase <= 100)
  })

  test('closes the microphone within 100 ms: the space bar let go, also inside a field that swallows keys', async () => {
    await watched()
    await connect('ptt')
    await page.evaluate(() => {
      window.addEventListener('keyup', () => (window.actedAt = performance.now()), true)
      document.getElementById('words').addEventListener('keyup', (e) => e.stopImmediatePropagation(), true)
    })
    await page.keyboard.down('Space')
    await heldLongEnough()
    await page.evaluate(() => {
      // A field in a page that does not tell of its focus: only the key-up is left.
      document.getElementById('words').dispatchEvent(new KeyboardEvent('keyup', { key: ' ', code: 'Space', bubbles: true, ctrlKey: true }))
    })
    await micIs('closed')
    const took = await page.evaluate(() => window.log.filter((l) => l.what === 'data-mic' && l.value === 'closed').pop().at - window.actedAt)
    assert.ok(took <= 100, `closed after ${took.toFixed(0)} ms`)
    await page.keyboard.up('Space')
  })

  test('a touch that the system takes over lets go', async () => {
    await watched({ hasTouch: true })
    await connect('ptt')
    const cdp = await page.context().newCDPSession(page)
    const at = await box('#hold')
    await cdp.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [at] })
    await heldLongEnough()
    await cdp.send('Input.dispatchTouchEvent', { type: 'touchCancel', touchPoints: [] })
    await micIs('closed')
    await far.wait('input_audio_buffer.commit')
  })

  test('tells the server to leave the turn to the person, and back', async () => {
    await watched()
    await connect('ptt')
    assert.deepEqual((await far.wait('session.update')).session, { type: 'realtime', audio: { input: { turn_detection: null } } })
    await page.check('#mode input[value=open]', { force: true })
    assert.equal((await far.wait('session.update', 2)).session.audio.input.turn_detection.type, 'server_vad')
    await micIs('open')
  })

  test('press interrupts and clears, release commits and asks; nothing is heard in between turns', async () => {
    await watched()
    await connect('ptt')
    await far.send({ type: 'response.created', response: { id: 'r1', status: 'in_progress' } }, { type: 'output_audio_buffer.started', response_id: 'r1' }, { type: 'hovor.state', state: 'speaking' })
    await says(page, 'state', 'speaking')
    await far.forget()
    await pressPointer()
    await far.wait('input_audio_buffer.clear')
    assert.deepEqual(await far.types(), ['response.cancel', 'output_audio_buffer.clear', 'input_audio_buffer.clear'])
    await heldLongEnough()
    await page.mouse.up()
    await far.wait('input_audio_buffer.commit')
    assert.equal((await far.types()).includes('response.create'), false, 'the cancelled response has not ended yet')
    await far.send({ type: 'response.done', response: { id: 'r1', status: 'cancelled' } })
    await far.wait('response.create')
    assert.equal(await page.evaluate(() => window.tracks[0].enabled), false)
  })

  test('choosing the open microphone ends the hold and sends what was said', async () => {
    await watched()
    await connect('ptt')
    await page.keyboard.down('Space')
    await heldLongEnough()
    await page.evaluate(() => document.querySelector('#mode input[value=open]').click())
    await far.wait('session.update', 2)
    assert.deepEqual((await far.types()).slice(-3), ['input_audio_buffer.commit', 'response.create', 'session.update'])
    await page.keyboard.up('Space')
    await micIs('open')
  })

  test('stays open until the last of two holds lets go', async () => {
    await watched()
    await connect('ptt')
    await pressPointer()
    await page.keyboard.down('Space')
    await heldLongEnough()
    await page.mouse.up()
    assert.equal(await page.evaluate(() => document.documentElement.dataset.mic), 'open')
    assert.equal(await page.getAttribute('#hold', 'aria-pressed'), 'true')
    await page.keyboard.up('Space')
    await micIs('closed')
    await far.wait('input_audio_buffer.commit')
    assert.equal((await far.types()).filter((t) => t === 'input_audio_buffer.clear').length, 1)
  })

  test('a repeating key is one press', async () => {
    await watched()
    await connect('ptt')
    for (let i = 0; i < 5; i++) await page.keyboard.down('Space')
    await heldLongEnough()
    await page.keyboard.up('Space')
    await far.wait('input_audio_buffer.commit')
    const types = await far.types()
    assert.equal(types.filter((t) => t === 'input_audio_buffer.clear').length, 1)
    assert.equal(types.filter((t) => t === 'input_audio_buffer.commit').length, 1)
  })

  test('a slip is no turn, and says so', async () => {
    await watched()
    await connect('ptt')
    await page.evaluate(() => {
      const button = document.getElementById('hold')
      button.dispatchEvent(new PointerEvent('pointerdown', { pointerId: 9, button: 0, bubbles: true }))
      window.dispatchEvent(new PointerEvent('pointerup', { pointerId: 9, bubbles: true }))
    })
    await far.wait('input_audio_buffer.clear', 2)
    await page.waitForFunction(() => /too short/.test(document.getElementById('hint').textContent))
    assert.equal((await far.types()).includes('input_audio_buffer.commit'), false)
    await pressPointer()
    await micIs('open')
    assert.doesNotMatch(await page.textContent('#hint'), /too short/, 'the next hold is a fresh one')
    await page.mouse.up()
  })

  test('nobody is heard who does not hold, whatever the server makes of a cleared buffer', async () => {
    await watched()
    await connect('ptt')
    await page.keyboard.down('Space')
    await heldLongEnough()
    await far.send({ type: 'hovor.state', state: 'hearing' }, { type: 'input_audio_buffer.speech_started', item_id: 'u1' })
    await page.waitForSelector('[data-item=u1]')
    await says(page, 'state', 'hearing')
    await page.keyboard.press('Escape')
    await page.keyboard.up('Space')
    await says(page, 'state', 'ready')
    await far.send({ type: 'input_audio_buffer.cleared' }, { type: 'hovor.state', state: 'hearing' }, { type: 'hovor.tool', call_id: 'c1', name: 'marker', status: 'running' })
    await page.waitForSelector('[data-item=u1]', { state: 'detached' })
    await page.waitForSelector('#runs [data-call=c1]', { state: 'attached' })
    assert.equal(await page.evaluate(() => document.documentElement.dataset.state), 'ready')
  })

  test('Escape throws away what was said', async () => {
    await watched()
    await connect('ptt')
    await page.keyboard.down('Space')
    await heldLongEnough()
    await page.keyboard.press('Escape')
    await page.keyboard.up('Space')
    await far.wait('input_audio_buffer.clear', 2)
    await page.fill('#words', 'marker')
    await page.keyboard.press('Enter')
    await far.wait('conversation.item.create')
    assert.equal((await far.types()).includes('input_audio_buffer.commit'), false)
  })

  test('a space typed into the field, or pressed on another button, is not a press', async () => {
    await watched()
    await connect('ptt')
    await page.focus('#words')
    await page.keyboard.type('a b c')
    assert.equal(await page.inputValue('#words'), 'a b c')
    await page.focus('#tab-call')
    await page.keyboard.press('Space')
    await page.waitForFunction(() => document.getElementById('tab-call').getAttribute('aria-selected') === 'true')
    assert.equal((await far.types()).includes('input_audio_buffer.clear'), false)
    assert.equal(await page.evaluate(() => window.log.some((l) => l.what === 'data-mic' && l.value === 'open')), false)
  })

  test('who cannot hold presses once to talk and once to send', async () => {
    await watched()
    await connect('ptt')
    await page.check('#toggle')
    await page.evaluate(() => document.activeElement.blur())
    await page.keyboard.press('Space')
    await heldLongEnough()
    await page.keyboard.press('Space')
    await far.wait('input_audio_buffer.commit')
    await micIs('closed')
    await page.click('#hold')
    await heldLongEnough()
    await page.click('#hold')
    await far.wait('input_audio_buffer.commit', 2)
    await micIs('closed')
  })

  test('a click by assistive technology, which cannot hold, toggles', async () => {
    await watched()
    await connect('ptt')
    await page.evaluate(() => document.getElementById('hold').click())
    await heldLongEnough()
    await page.evaluate(() => document.getElementById('hold').click())
    await far.wait('input_audio_buffer.commit')
    await micIs('closed')
  })
})

describe('the microphone', { skip }, () => {
  const refused = (name, message) => `navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException(${JSON.stringify(message)}, ${JSON.stringify(name)}))`
  for (const [problem, script, words] of [
    ['busy', refused('NotReadableError', 'Could not start audio source'), /Another program/],
    ['dismissed', refused('NotAllowedError', 'Permission dismissed'), /closed without an answer/],
    ['system', refused('NotAllowedError', 'Permission denied by system'), /system keeps/],
    ['none', refused('NotFoundError', 'Requested device not found'), /No microphone/],
  ]) {
    test(`${problem}: its own words, a way out, and nothing connected`, async () => {
      await watched({ before: script })
      await page.click('#start')
      await page.waitForSelector(`#notice[data-key="mic ${problem}"]`)
      assert.match(await page.textContent('#notice-title'), words)
      assert.equal(await far.calls(), 0)
      assert.equal(await page.evaluate(() => document.documentElement.dataset.phase), 'idle')
    })
  }

  test('denied: can be tried again without a reload', async () => {
    page = await openPage(browser, fake.url, { allow: false })
    await page.click('#start')
    await page.waitForSelector('#notice[data-key="mic denied"]')
    await page.context().grantPermissions(['microphone'], { origin: fake.url })
    await page.click('#notice-actions button:first-child')
    await says(page, 'phase', 'live')
    await micIs('open')
  })

  test('a page that is not secure says so', async () => {
    const insecure = await launch({ flags: ['--host-resolver-rules=MAP hovor.test 127.0.0.1'] })
    try {
      page = await openPage(insecure, `http://hovor.test:${fake.port}`, { allow: false })
      await page.click('#start')
      await page.waitForSelector('#notice[data-key="mic insecure"]')
      assert.match(await page.textContent('#notice-text'), /https/)
    } finally {
      const faults = page.faults
      await insecure.close()
      page = { faults, context: () => ({ close: () => {} }) }
    }
  })

  test('none: the talk goes on in writing, and the answer can be heard', async () => {
    const deaf = await launch({ microphone: false })
    try {
      page = await openPage(deaf, fake.url)
      await page.click('#start')
      await page.waitForSelector('#notice[data-key="mic none"]')
      await page.click('#notice-actions button:nth-child(2)')
      await says(page, 'phase', 'live')
      await far.greet()
      await far.tone(true)
      await page.fill('#words', 'Dobrý den')
      await page.press('#words', 'Enter')
      const item = await far.wait('conversation.item.create')
      assert.deepEqual(item.item, { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Dobrý den' }] })
      await far.wait('response.create')
      await page.waitForFunction(() => document.getElementById('voice').srcObject?.getAudioTracks().length > 0)
      assert.equal(await page.evaluate(() => document.documentElement.dataset.mic), 'closed')
    } finally {
      const faults = page.faults
      await deaf.close()
      page = { faults, context: () => ({ close: () => {} }) }
    }
  })

  test('typed words open a call without ever asking for a microphone', async () => {
    await watched()
    await page.fill('#words', 'open the document welcome')
    await page.click('#say button')
    await far.page.waitForFunction(() => window.current()?.channel?.readyState === 'open')
    await far.wait('response.create')
    assert.equal(await page.evaluate(() => window.tracks.length), 0)
    assert.ok(await page.isVisible('#usemic'))
    await page.click('#usemic')
    await micIs('open')
  })

  test('muted, nothing leaves the page', async () => {
    await watched()
    await connect()
    await micIs('open')
    await page.click('#mute')
    await micIs('closed')
    assert.equal(await page.evaluate(() => window.tracks[0].enabled), false)
    await page.click('#mute')
    await micIs('open')
  })

  test('sound that the browser holds back can be let go by one click', async () => {
    await watched({ before: () => {
      const play = HTMLMediaElement.prototype.play
      let first = true
      HTMLMediaElement.prototype.play = function () {
        if (first) {
          first = false
          return Promise.reject(new DOMException('user gesture', 'NotAllowedError'))
        }
        return play.call(this)
      }
    } })
    await connect()
    await page.waitForSelector('#notice[data-key=audio]')
    await page.click('#notice-actions button')
    await page.waitForSelector('#notice', { state: 'hidden' })
  })
})

describe('the words', { skip }, () => {
  test('both sides, in the order of the talk, with what was not heard struck out', async () => {
    await watched()
    await connect()
    await far.send(
      { type: 'input_audio_buffer.committed', item_id: 'u1', previous_item_id: null },
      { type: 'conversation.item.added', previous_item_id: null, item: { id: 'u1', type: 'message', role: 'user', content: [{ type: 'input_audio', transcript: null }] } },
      { type: 'response.created', response: { id: 'r1', status: 'in_progress' } },
      { type: 'conversation.item.added', previous_item_id: 'u1', item: { id: 'a1', type: 'message', role: 'assistant', status: 'in_progress', content: [] } },
      { type: 'output_audio_buffer.started', response_id: 'r1' },
      { type: 'response.output_audio_transcript.delta', response_id: 'r1', item_id: 'a1', delta: 'Once upon a time there was a plant.' },
    )
    await page.waitForSelector('[data-item=a1]')
    assert.equal(await page.getAttribute('[data-item=a1]', 'data-final'), 'false')
    assert.equal(await page.getAttribute('[data-item=a1]', 'aria-live'), 'off', 'a line in progress is not announced')
    await far.send(
      { type: 'conversation.item.input_audio_transcription.completed', item_id: 'u1', transcript: 'Tell me a long story.' },
      { type: 'response.output_audio_transcript.done', response_id: 'r1', item_id: 'a1', transcript: 'Once upon a time there was a plant.' },
      { type: 'response.done', response: { id: 'r1', status: 'completed' } },
      { type: 'output_audio_buffer.cleared', response_id: 'r1' },
      { type: 'hovor.heard', item_id: 'a1', audio_ms: 700, text: 'Once upon a time', complete: false },
      { type: 'hovor.turn', turn_id: 't1', mode: 'open', outcome: 'interrupted', latency_ms: { endpointing: 320, provider_first_audio: 180, total: 540 }, interrupted_after_ms: 700 },
    )
    await page.waitForSelector('[data-item=a1] del')
    assert.deepEqual(await page.$$eval('#log .line', (rows) => rows.map((r) => r.dataset.item)), ['u1', 'a1'])
    assert.equal(await page.textContent('[data-item=a1] del'), ' there was a plant.')
    assert.match(await page.textContent('[data-item=u1]'), /Alice.*Tell me a long story\./)
    assert.match(await page.textContent('[data-item=a1] .more'), /0\.54 s.*interrupted/)
    assert.equal(await page.getAttribute('[data-item=a1]', 'aria-live'), null, 'a finished line is a fresh addition to the log')
    await page.click('#tab-call')
    assert.match(await page.textContent('#turns tbody tr'), /open.*interrupted.*0\.54 s.*0\.32 s.*0\.18 s/)
  })

  test('what was not understood says so instead of vanishing', async () => {
    await watched()
    await connect()
    await far.send(
      { type: 'input_audio_buffer.speech_started', item_id: 'u1' },
      { type: 'input_audio_buffer.committed', item_id: 'u1', previous_item_id: null },
      { type: 'conversation.item.input_audio_transcription.completed', item_id: 'u1', transcript: '' },
    )
    await page.waitForSelector('[data-item=u1][data-final=true]')
    assert.match(await page.textContent('[data-item=u1]'), /\(not understood\)/)
    assert.ok(await page.isHidden('#empty'))
  })

  test('what is not spoken yet is grey, and the spoken word stays in view', async () => {
    await watched()
    await connect()
    const story = 'And then the plant went on and on, as plants do. '.repeat(60).trim()
    await far.send(
      { type: 'conversation.item.added', previous_item_id: null, item: { id: 'a1', type: 'message', role: 'assistant', status: 'in_progress', content: [] } },
      { type: 'response.output_audio_transcript.delta', response_id: 'r1', item_id: 'a1', delta: story },
      { type: 'output_audio_buffer.started', response_id: 'r1' },
      { type: 'response.output_audio_transcript.done', response_id: 'r1', item_id: 'a1', transcript: story },
      { type: 'response.done', response: { id: 'r1', status: 'completed' } },
    )
    await page.waitForSelector('[data-item=a1][data-final=true] .ahead')
    await page.waitForFunction((n) => document.querySelector('[data-item=a1] .ahead').textContent.length < n, story.length - 10)
    assert.equal(await page.textContent('[data-item=a1] .words'), story)
    const inView = () => page.evaluate(() => {
      const word = document.querySelector('[data-item=a1] .ahead').getClientRects()[0]
      const box = document.getElementById('scroll').getBoundingClientRect()
      return word.top >= box.top && word.bottom <= box.bottom
    })
    assert.ok(await inView())
    await far.send({ type: 'hovor.heard', item_id: 'a1', audio_ms: 60_000, text: story.slice(0, 1_500), complete: false })
    await page.waitForFunction((n) => document.querySelector('[data-item=a1] .ahead').textContent.length < n, story.length - 1_400)
    assert.ok(await inView())
    assert.ok(await page.evaluate(() => document.getElementById('scroll').scrollTop > 0))
    await far.send({ type: 'output_audio_buffer.stopped', response_id: 'r1' }, { type: 'hovor.heard', item_id: 'a1', audio_ms: 200_000, text: story, complete: true })
    await page.waitForSelector('[data-item=a1] .ahead', { state: 'detached' })
  })

  test('a typed turn without a measurable wait does not claim none', async () => {
    await watched()
    await connect()
    await far.send(
      { type: 'conversation.item.added', previous_item_id: null, item: { id: 'a1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes.' }] } },
      { type: 'hovor.turn', turn_id: 't1', mode: 'text', outcome: 'answered', latency_ms: { total: 3 } },
    )
    await page.waitForSelector('[data-item=a1] [data-latency]')
    assert.match(await page.textContent('[data-item=a1] .more'), /first sound after < 0\.05 s/)
  })

  test('the silence between a tool and the answer is not called listening', async () => {
    await watched()
    await connect()
    await far.send({ type: 'hovor.state', state: 'thinking' })
    await says(page, 'state', 'thinking')
    await page.evaluate(() => {
      window.states = []
      new MutationObserver(() => window.states.push(document.documentElement.dataset.state)).observe(document.documentElement, { attributeFilter: ['data-state'] })
    })
    await far.send({ type: 'hovor.state', state: 'listening' }, { type: 'hovor.state', state: 'thinking' }, { type: 'hovor.state', state: 'speaking' })
    await says(page, 'state', 'speaking')
    assert.equal(await page.evaluate(() => window.states.includes('listening')), false)
    await far.send({ type: 'hovor.state', state: 'thinking' }, { type: 'hovor.state', state: 'listening' })
    await says(page, 'state', 'listening')
  })

  test('carry their language, typed ones too', async () => {
    await watched()
    await connect()
    await far.send({ type: 'conversation.item.added', previous_item_id: null, item: { id: 'u1', type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Ukaž mi prosím smlouvu o údržbě.' }] } })
    await page.waitForSelector('[data-item=u1] [lang=cs]')
    assert.match(await page.textContent('[data-item=u1] .more'), /typed/)
  })

  test('a function call is run with the person\'s own credential, and its output given back unchanged after response.done', async () => {
    await watched()
    await connect()
    fake.tool = async () => ({ status: 'not_found', output: '{"status":"not_found","message":"Nenašel jsem to."}' })
    await far.send(
      { type: 'response.created', response: { id: 'r1', status: 'in_progress' } },
      { type: 'conversation.item.added', previous_item_id: null, item: { id: 'f1', type: 'function_call', status: 'in_progress', call_id: 'c1', name: 'get_document', arguments: '' } },
      { type: 'response.output_item.done', response_id: 'r1', item: { id: 'f1', type: 'function_call', status: 'completed', call_id: 'c1', name: 'get_document', arguments: '{"id":"nothing"}' } },
    )
    const output = await far.wait('conversation.item.create')
    assert.deepEqual(output.item, { type: 'function_call_output', call_id: 'c1', output: '{"status":"not_found","message":"Nenašel jsem to."}' })
    assert.equal((await far.types()).includes('response.create'), false)
    await far.send({ type: 'response.done', response: { id: 'r1', status: 'completed' } })
    await far.wait('response.create')
    const request = fake.requests.find((r) => r.path === '/v1/tools/calls')
    assert.equal(request.headers.authorization, 'Bearer demo-alice')
    assert.deepEqual(JSON.parse(request.body), { call_id: 'c1', name: 'get_document', arguments: '{"id":"nothing"}', session: 'call_1' })
    await page.waitForSelector('[data-item=f1] [data-status=not_found]')
    await page.click('#tab-call')
    assert.match(await page.textContent('#runs [data-call=c1] summary'), /get_document.*not found.*s.*reads/s)
    const sent = JSON.stringify(await far.received())
    assert.equal(sent.includes('demo-alice'), false, 'no event holds the credential')
  })
})

describe('the assistant on the screen', { skip }, () => {
  const ask = (n, tool, args, extra = {}) => far.send({ type: 'hovor.screen.request', request_id: `q${n}`, call_id: `c${n}`, epoch: n, tool, arguments: args, expires_in_ms: 7_000, ...extra })
  const outcome = async (n) => {
    for (;;) {
      const found = fake.outcomes().find((r) => JSON.parse(r.body).request_id === `q${n}`)
      if (found) return { ...JSON.parse(found.body), path: found.path }
      await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => r())))
    }
  }

  test('an opened document is reported only after it stands there', async () => {
    await watched()
    await connect()
    let release
    fake.delays.set('welcome', new Promise((r) => (release = r)))
    await ask(1, 'open_document', { id: 'welcome' })
    await page.waitForFunction(() => performance.getEntriesByType('resource').length >= 0)
    while (!fake.requests.some((r) => r.path === '/demo/documents/welcome')) await page.evaluate(() => 0)
    assert.equal(fake.outcomes().length, 0, 'nothing is claimed while the document loads')
    release()
    assert.deepEqual(await outcome(1), { request_id: 'q1', outcome: 'found', session: 'call_1', path: '/v1/tools/calls/c1/outcome' })
    assert.ok(await page.isVisible('#reader[data-document=welcome] h2'))
    assert.match(await page.textContent('#reader'), /Opened by Hovor/)
  })

  test('on a narrow screen it comes to the front first', async () => {
    await watched({ size: { width: 375, height: 700 } })
    await connect()
    await ask(1, 'open_document', { id: 'smlouva' })
    assert.equal((await outcome(1)).outcome, 'found')
    assert.ok(await page.isVisible('#reader[data-document=smlouva] h2'))
    assert.equal(await page.getAttribute('#tab-documents', 'aria-selected'), 'true')
  })

  test('a hidden page claims nothing until it is looked at', async () => {
    await watched()
    await connect()
    await page.evaluate(() => {
      window.visibility = 'hidden'
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => window.visibility })
    })
    await ask(1, 'open_document', { id: 'welcome' })
    await page.waitForSelector('#reader[data-document=welcome]')
    await page.evaluate(() => new Promise((r) => { let n = 0; const f = () => (++n > 20 ? r() : requestAnimationFrame(f)); f() }))
    assert.equal(fake.outcomes().length, 0)
    await page.evaluate(() => void (window.visibility = 'visible'))
    assert.equal((await outcome(1)).outcome, 'found')
  })

  test('what is not there, or not for this person, is not found', async () => {
    await watched()
    await page.check('#people input[value=bob]', { force: true })
    await connect()
    await ask(1, 'open_document', { id: 'no-such' })
    assert.equal((await outcome(1)).outcome, 'not_found')
    await ask(2, 'open_document', { id: 'pricing-2019' })
    assert.equal((await outcome(2)).outcome, 'not_found')
    await ask(3, 'show_process', { id: 'no-such' })
    assert.equal((await outcome(3)).outcome, 'not_found')
    await ask(4, 'highlight_passage', { id: 'welcome', text: 'this is not in it' })
    assert.equal((await outcome(4)).outcome, 'not_found')
    assert.equal(await page.locator('#reader mark').count(), 0)
  })

  test('a passage is marked and in sight before it is reported', async () => {
    await watched()
    await connect()
    await ask(1, 'highlight_passage', { id: 'shift-notes', text: 'the SPARE motor\n stands behind gate seven' })
    assert.equal((await outcome(1)).outcome, 'found')
    const mark = page.locator('#reader mark')
    assert.match(await mark.textContent(), /The spare motor stands behind gate seven/)
    const seen = await mark.evaluate((m) => {
      const b = m.getBoundingClientRect()
      const p = document.getElementById('documents').getBoundingClientRect()
      return b.top >= p.top && b.bottom <= p.bottom
    })
    assert.ok(seen, 'the mark is within the panel')
  })

  test('a passage across two paragraphs is one passage', async () => {
    await watched()
    await connect()
    await ask(1, 'highlight_passage', { id: 'welcome', text: 'in one place. Anybody may read here' })
    assert.equal((await outcome(1)).outcome, 'found')
    assert.equal(await page.locator('#reader mark').count(), 2)
  })

  test('a process is unfolded and shown', async () => {
    await watched()
    await connect()
    await ask(1, 'show_process', { id: 'claims' })
    assert.equal((await outcome(1)).outcome, 'found')
    assert.ok(await page.isVisible('[data-process=claims] .detail'))
  })

  test('too late is not reported, and does not count for the next request', async () => {
    await watched()
    await connect()
    let release
    fake.delays.set('welcome', new Promise((r) => (release = r)))
    await ask(1, 'open_document', { id: 'welcome' }, { expires_in_ms: 50 })
    while (!fake.requests.some((r) => r.path === '/demo/documents/welcome')) await page.evaluate(() => 0)
    await page.waitForFunction((t) => performance.now() > t + 100, await page.evaluate(() => performance.now()))
    await ask(2, 'open_document', { id: 'smlouva' })
    assert.equal((await outcome(2)).outcome, 'found')
    release()
    await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r()))))
    assert.deepEqual(fake.outcomes().map((r) => JSON.parse(r.body).request_id), ['q2'])
    assert.equal(await page.getAttribute('#reader', 'data-document'), 'smlouva')
  })
})

describe('when something breaks', { skip }, () => {
  test('a lost provider is said at once, and the talk continues on the same thread', async () => {
    await watched()
    await connect()
    await far.send(
      { type: 'conversation.item.added', previous_item_id: null, item: { id: 'u1', type: 'message', role: 'user', content: [{ type: 'input_text', text: 'keep me' }] } },
      { type: 'hovor.provider', state: 'lost', reason: 'closed', message: 'the provider closed the connection' },
    )
    await page.waitForSelector('#notice[data-key=provider]')
    await page.click('#notice-actions button')
    await page.waitForSelector('#notice', { state: 'hidden' })
    await says(page, 'phase', 'live')
    assert.equal(await far.calls(), 2)
    const mints = fake.requests.filter((r) => r.path === '/v1/realtime/client_secrets').map((r) => JSON.parse(r.body))
    assert.equal(mints[0].hovor, undefined)
    assert.deepEqual(mints[1].hovor, { thread_id: 'thread_1' })
    assert.ok(await page.isVisible('[data-item=u1]'))
    while (!fake.requests.some((r) => r.path === '/v1/realtime/calls/call_1/hangup')) await far.calls()
  })

  test('an ended call says why, keeps the words, and can be continued', async () => {
    await watched()
    await connect()
    await far.send({ type: 'hovor.ended', reason: 'max_duration', message: 'the call reached its longest time' })
    await page.waitForSelector('#notice[data-key="ended max_duration"]')
    assert.match(await page.textContent('#notice-text'), /longest time/)
    assert.equal(await page.evaluate(() => window.tracks[0].readyState), 'ended', 'the microphone is given back')
    assert.equal(await page.textContent('#notice-title'), 'The call has ended')
    assert.equal(await page.getByText('Continue the talk').count() + await page.getByText('Try again').count(), 1, 'one way to go on')
    await page.click('#start')
    await says(page, 'phase', 'live')
  })

  test('a service that refuses before a word was said: no call, and the gateway\'s own sentence', async () => {
    await watched()
    await connect()
    await far.send({ type: 'hovor.ended', reason: 'provider_unavailable', message: 'The voice service refuses the key. Check it.' })
    await page.waitForSelector('#notice[data-key="ended provider_unavailable"]')
    assert.equal(await page.textContent('#notice-title'), 'The call did not come about')
    assert.equal(await page.textContent('#notice-text'), 'The voice service refuses the key. Check it.')
    assert.equal(await page.textContent('#start'), 'Try again')
  })

  test('a lost connection is taken up as a new call on the same thread', async () => {
    await watched()
    await connect()
    await far.drop()
    await says(page, 'phase', 'reconnecting')
    await far.page.waitForFunction(() => window.calls.length === 2)
    await says(page, 'phase', 'live')
    assert.deepEqual(JSON.parse(fake.requests.filter((r) => r.path === '/v1/realtime/client_secrets').pop().body).hovor, { thread_id: 'thread_1' })
    await micIs('open')
  })

  test('a talk outlives a reload and another person at the page', async () => {
    await watched({ size: { width: 1024, height: 500 } })
    await page.route('**/v1/threads/thread_1', (r) => r.fulfill({ json: { id: 'thread_1', object: 'hovor.thread', items: [
      { id: 'u1', role: 'user', kind: 'typed', text: 'keep me', complete: true },
      { id: 'a1', role: 'assistant', kind: 'spoken', text: 'I shall', complete: false },
    ] } }))
    await connect()
    await far.send({ type: 'conversation.item.added', previous_item_id: null, item: { id: 'u1', type: 'message', role: 'user', content: [{ type: 'input_text', text: 'keep me' }] } })
    await page.waitForSelector('[data-item=u1]')
    await page.click('#hangup')
    await says(page, 'phase', 'ended')
    await page.check('#people input[value=bob]', { force: true })
    assert.equal(await page.locator('#log .line').count(), 0)
    assert.equal(await page.textContent('#start'), 'Start talking', 'a talk of their own')
    await page.check('#people input[value=alice]', { force: true })
    assert.ok(await page.isVisible('[data-item=u1]'))
    assert.equal(await page.textContent('#start'), 'Continue the talk')

    await page.reload()
    await page.waitForSelector('#notice[data-key=kept]')
    assert.deepEqual(await page.$$eval('#log .line', (rows) => rows.map((r) => r.dataset.item)), ['u1', 'a1'])
    assert.match(await page.textContent('[data-item=a1] .more'), /interrupted/)
    await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r()))))
    assert.ok(await page.isHidden('#jump'), 'the newest words are in view')
    await page.click('#start')
    await says(page, 'phase', 'live')
    assert.deepEqual(JSON.parse(fake.requests.filter((r) => r.path === '/v1/realtime/client_secrets').pop().body).hovor, { thread_id: 'thread_1' })

    await page.reload()
    await page.click('#notice[data-key=kept] button')
    assert.equal(await page.textContent('#start'), 'Start talking')
    assert.equal(await page.locator('#log .line').count(), 0)
    await page.click('#start')
    await says(page, 'phase', 'live')
    assert.equal(JSON.parse(fake.requests.filter((r) => r.path === '/v1/realtime/client_secrets').pop().body).hovor, undefined)
  })

  test('a thread that the gateway keeps no longer does not stop the next call', async () => {
    await watched()
    await connect()
    await page.waitForFunction(() => sessionStorage.getItem('hovor.thread.alice') === 'thread_1')
    await page.click('#hangup')
    fake.mint = (body) => (body.hovor ? [404, 'not_found', 'there is no thread of yours with this id'] : null)
    await page.click('#start')
    await says(page, 'phase', 'live')
  })

  test('a refused call tells the gateway\'s own words', async () => {
    await watched()
    fake.mint = () => [503, 'draining_soon', 'No new calls just now; try again in a minute.']
    await page.click('#start')
    await page.waitForSelector('#notice[data-key="ended draining_soon"]')
    assert.match(await page.textContent('#notice-text'), /try again in a minute/)
  })

  test('a gateway that does not answer is told apart', async () => {
    await watched()
    await page.route('**/v1/realtime/client_secrets', (r) => r.abort())
    await page.click('#start')
    await page.waitForSelector('#notice[data-key="ended unreachable"]')
  })

  test('a page that is left hangs up', async () => {
    await watched()
    await connect()
    await page.goto('about:blank')
    while (!fake.requests.some((r) => r.path.endsWith('/hangup'))) await far.calls()
  })

  test('hanging up by keyboard tells the gateway before the connection closes, and the focus stays at the controls', async () => {
    await watched({ before: () => {
      const close = RTCPeerConnection.prototype.close
      RTCPeerConnection.prototype.close = function () {
        window.closedAt ??= performance.now()
        return close.call(this)
      }
    } })
    await connect()
    await page.focus('#hangup')
    await page.keyboard.press('Enter')
    await says(page, 'phase', 'ended')
    assert.equal(await page.evaluate(() => document.activeElement.id), 'start')
    await page.waitForFunction(() => window.closedAt !== undefined)
    const answered = await page.evaluate(() => performance.getEntriesByType('resource').find((r) => r.name.endsWith('/hangup'))?.responseStart)
    assert.ok(answered > 0 && answered <= await page.evaluate(() => window.closedAt), 'the peer connection waited for the answer')
  })

  test('hanging up gives the microphone back', async () => {
    await watched()
    await connect()
    await page.click('#hangup')
    await says(page, 'phase', 'ended')
    assert.equal(await page.evaluate(() => window.tracks[0].readyState), 'ended')
    assert.equal(await page.isVisible('#notice'), false)
    while (!fake.requests.some((r) => r.path === '/v1/realtime/calls/call_1/hangup')) await far.calls()
  })
})

describe('everybody', { skip }, () => {
  test('can do it all by keyboard, and sees where they are', async () => {
    await watched()
    const visit = async (want) => {
      for (let i = 0; i < 60; i++) {
        await page.keyboard.press('Tab')
        const at = await page.evaluate(() => {
          const el = document.activeElement
          const ring = el.matches('.choice input') ? el.nextElementSibling : el
          const style = getComputedStyle(ring)
          return { id: el.id || el.value || el.textContent.trim(), ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2, body: el === document.body }
        })
        if (!at.body) assert.ok(at.ring, `no visible focus on ${at.id}`)
        if (at.id === want) return
      }
      assert.fail(`the Tab key never comes to ${want}`)
    }
    await page.waitForSelector('[data-document=welcome]')
    await visit('start')
    await page.keyboard.press('Enter')
    await says(page, 'phase', 'live')
    await far.greet()
    assert.equal(await page.evaluate(() => document.activeElement.id), 'mute', 'the focus goes along with the main button')
    await visit('words')
    await page.keyboard.type('hello')
    await page.keyboard.press('Enter')
    await far.wait('conversation.item.create')
    await visit('tab-documents')
    await page.keyboard.press('ArrowRight')
    assert.equal(await page.getAttribute('#tab-processes', 'aria-selected'), 'true')
    await page.keyboard.press('ArrowLeft')
    await visit('Welcome to the projectEnglish')
    await page.keyboard.press('Enter')
    await page.waitForSelector('#reader[data-document=welcome]')
    await visit('hangup')
    await page.keyboard.press('Enter')
    await says(page, 'phase', 'ended')
  })

  for (const width of [320, 375, 768, 1280, 2560]) {
    test(`${width} px: nothing sticks out, and every target can be hit`, async () => {
      await watched({ size: { width, height: 700 } })
      await connect('ptt')
      const views = width < 960 ? ['talk', 'documents', 'processes', 'call'] : ['documents', 'processes', 'call']
      for (const view of views) {
        await page.click(`#tab-${view}`)
        const { wide, small } = await page.evaluate(() => {
          const wide = []
          for (const el of document.querySelectorAll('body *')) {
            const b = el.getBoundingClientRect()
            if (b.width && getComputedStyle(el).visibility === 'visible' && (b.right > innerWidth + 0.5 || b.left < -0.5) && !el.closest('.unseen, .skip, .wide, canvas')) wide.push(el.tagName + '#' + el.id + '.' + el.className)
          }
          const small = []
          for (const el of document.querySelectorAll('button, .choice label, .toggle, #words, summary')) {
            const b = el.getBoundingClientRect()
            if (b.width && getComputedStyle(el).visibility === 'visible' && (b.height < 43.9 || b.width < 43.9) && !el.closest('.tabs')) small.push(`${el.tagName}#${el.id} ${b.width}×${b.height}`)
          }
          if (document.documentElement.scrollWidth > innerWidth) wide.push('the page itself')
          return { wide, small }
        })
        assert.deepEqual({ wide, small }, { wide: [], small: [] }, view)
      }
    })
  }

  for (const [width, height] of [[320, 640], [1440, 500]]) {
    test(`${width}×${height}: an empty page is read from its start`, async () => {
      await watched({ size: { width, height } })
      await page.waitForSelector('[data-document=welcome]', { state: 'attached' })
      await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r()))))
      assert.equal(await page.evaluate(() => document.getElementById('scroll').scrollTop), 0)
      assert.ok(await page.isHidden('#jump'))
    })
  }

  test('1024 px: the main button keeps its words on one line', async () => {
    await watched({ size: { width: 1024, height: 700 } })
    await connect('ptt')
    const [hold, line] = await page.evaluate(() => [document.querySelector('#hold span').getBoundingClientRect().height, parseFloat(getComputedStyle(document.getElementById('hold')).lineHeight)])
    assert.ok(hold < 1.5 * line, `${hold} px high`)
  })

  test('who may not change the person just now is told why', async () => {
    await watched()
    assert.equal(await page.getAttribute('#people', 'title') ?? '', '')
    await connect()
    assert.match(await page.getAttribute('#people', 'title'), /Hang up/)
  })

  for (const colorScheme of ['light', 'dark']) {
    test(`${colorScheme}: every ink can be read on every ground`, async () => {
      await watched({ colorScheme })
      const ratios = await page.evaluate(() => {
        const style = getComputedStyle(document.documentElement)
        const rgb = (name) => {
          const c = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
          c.fillStyle = style.getPropertyValue(name).trim()
          c.fillRect(0, 0, 1, 1)
          return [...c.getImageData(0, 0, 1, 1).data].slice(0, 3)
        }
        const light = (name) => {
          const [r, g, b] = rgb(name).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
          return 0.2126 * r + 0.7152 * g + 0.0722 * b
        }
        const out = {}
        for (const [ink, ground, least] of [
          ...['--ink', '--soft', '--person', '--assistant', '--wrong'].flatMap((i) => [[i, '--ground', 4.5], [i, '--sheet', 4.5]]),
          ['--on-button', '--button', 4.5], ['--ground', '--person', 4.5], ['--ink', '--assistant-wash', 4.5], ['--field', '--sheet', 3], ['--field', '--ground', 3],
        ]) {
          const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x)
          const ratio = (a + 0.05) / (b + 0.05)
          if (ratio < least) out[`${ink} on ${ground}`] = ratio.toFixed(2)
        }
        return out
      })
      assert.deepEqual(ratios, {})
    })
  }

  test('reduced motion: nothing moves', async () => {
    await watched({ reducedMotion: 'reduce' })
    await connect()
    await far.send({ type: 'hovor.state', state: 'thinking' })
    await says(page, 'state', 'thinking')
    assert.equal(await page.evaluate(() => document.getAnimations().length), 0)
  })

  test('forced colours: what is chosen and what is pressed can still be told', async () => {
    await watched({ forcedColors: 'active' })
    await connect('ptt')
    await pressPointer()
    await micIs('open')
    const colours = await page.evaluate(() => ['#mode input:checked + span', '#mode input:not(:checked) + span', '#hold'].map((s) => getComputedStyle(document.querySelector(s)).backgroundColor))
    assert.notEqual(colours[0], colours[1])
    assert.equal(colours[2], colours[0])
    await page.mouse.up()
  })

  test('the controls stay in their place from start to end', async () => {
    await watched()
    const tops = async () => page.evaluate(() => ['#state', '#words', '#hangup'].map((s) => Math.round(document.querySelector(s).getBoundingClientRect().top)))
    const idle = await tops()
    await connect()
    for (const state of ['hearing', 'thinking', 'speaking', 'listening']) {
      await far.send({ type: 'hovor.state', state })
      await says(page, 'state', state)
      assert.deepEqual(await tops(), idle, state)
    }
  })

  for (const [locale, start] of [['cs-CZ', 'Začít mluvit'], ['de-AT', 'Gespräch beginnen'], ['ru-RU', 'Начать разговор'], ['fr-FR', 'Start talking']]) {
    test(`${locale}: the page speaks the browser's language, or English`, async () => {
      await watched({ locale })
      assert.equal(await page.textContent('#start'), start)
      assert.equal(await page.evaluate(() => document.documentElement.lang), locale === 'fr-FR' ? 'en' : locale.slice(0, 2))
    })
  }

  test('the page says that the embedded provider hears English only, and no other does', async () => {
    await watched()
    await page.waitForSelector('#english')
    assert.match(await page.textContent('#english'), /Speak English; type in any language/)
    fake.about.providers = [{ name: 'openai', kind: 'openai', where: 'api.openai.com' }]
    await page.reload()
    await page.waitForFunction(() => document.getElementById('path').textContent !== '')
    assert.ok(await page.isHidden('#english'))
  })

  test('the page says where the voice goes, in the gateway\'s own sentence', async () => {
    await watched()
    await page.waitForFunction(() => /stays on this machine/.test(document.getElementById('path').textContent))
  })
})
