// Chromium against a gateway with its embedded provider: the real page, the real binary, spoken fixtures. See live.mjs for what is run.
import { after, afterEach, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { launch, openPage, says } from './browser.mjs'
import { noBinary, noGateway, startGateway } from './live.mjs'
import { wav } from './speech.mjs'

let browser, page, gateway, url
afterEach(async () => {
  const faults = page?.faults ?? []
  await browser?.close()
  browser = page = undefined
  assert.deepEqual(faults, [])
})

/** Opens the page with a microphone that says this; keeps its peer connections, and when the microphone opened. */
async function open(mic, { person = 'alice', mode = 'open' } = {}) {
  browser = await launch({ wav: mic?.path ?? '' })
  page = await openPage(browser, 'about:blank', { allow: false })
  await page.context().grantPermissions(['microphone'], { origin: url })
  page.setDefaultTimeout(45_000)
  await page.addInitScript(() => {
    window.pcs = []
    const Real = window.RTCPeerConnection
    window.RTCPeerConnection = class extends Real {
      constructor(...a) {
        super(...a)
        window.pcs.push(this)
      }
    }
    const media = navigator.mediaDevices
    const get = media.getUserMedia.bind(media)
    media.getUserMedia = async (c) => {
      const stream = await get(c)
      window.micAt = performance.now()
      return stream
    }
    window.energy = async () => {
      for (const r of (await window.pcs[window.pcs.length - 1].getStats()).values()) if (r.type === 'inbound-rtp' && r.kind === 'audio') return r.totalAudioEnergy ?? 0
      return 0
    }
    window.firstSeen = {} // selector of interest → when it first stood in the page
    addEventListener('DOMContentLoaded', () => {
      new MutationObserver(() => {
        const rows = [...document.querySelectorAll('#log .line')]
        const tool = rows.findIndex((r) => r.dataset.speaker === 'tool')
        if (tool >= 0 && rows.slice(tool + 1).some((r) => r.dataset.speaker === 'assistant')) window.firstSeen.answerAfterTool ??= performance.now()
      }).observe(document.getElementById('log'), { childList: true, subtree: true })
    })
  })
  await page.goto(url)
  await page.check(`#people input[value=${person}]`, { force: true })
  await page.check(`#mode input[value=${mode}]`, { force: true })
}

async function start() {
  await page.click('#start')
  await says(page, 'phase', 'live')
  await page.waitForFunction(() => document.documentElement.dataset.state !== 'connecting')
}

const line = (speaker, extra = '') => page.waitForSelector(`#log .line[data-speaker=${speaker}][data-final=true]${extra}`)
const words = (speaker) => page.$$eval(`#log .line[data-speaker=${speaker}] .words`, (all) => all.map((e) => e.textContent))
const audible = (least = 1e-4) => page.waitForFunction(async (e) => (await window.energy()) > e, least, { polling: 100 })
/** Until the microphone's file has played to this second. */
const played = (second) => page.waitForFunction((s) => window.micAt !== undefined && performance.now() - window.micAt > s * 1_000, second, { polling: 50 })

async function spokenTurn(mode) {
  const mic = wav(3, 'hello', 3)
  await open(mic, { mode })
  await start()
  if (mode === 'ptt') {
    await page.keyboard.down('Space')
    await played(mic.spans[0].end + 0.4)
    await page.keyboard.up('Space')
  }
  await line('person')
  await line('assistant')
  assert.match((await words('person'))[0], /hello/i)
  assert.ok((await words('assistant'))[0].trim().length > 0)
  await audible()
  const latency = await page.waitForSelector('#log [data-latency]')
  const ms = Number(await latency.getAttribute('data-latency'))
  assert.ok(ms > 0 && ms < 10_000, `${ms} ms`)
  await page.click('#tab-call')
  assert.match(await page.textContent('#turns tbody tr'), mode === 'ptt' ? /held/ : /open/)
  if (gateway.admin) {
    const metrics = await (await fetch(gateway.admin + '/metrics')).text()
    assert.match(metrics, new RegExp(`hovor_turn[a-z_]*\\{[^}]*mode="${mode}"`))
  }
}

describe('a call', { skip: noGateway }, () => {
  before(async () => {
    gateway = await startGateway()
    url = gateway.url
  })
  after(() => gateway?.stop())

  test('spoken with an open microphone: both captions, an audible answer, the turn\'s latency', () => spokenTurn('open'))
  test('spoken with push-to-talk: the same', () => spokenTurn('ptt'))

  test('typed in Czech, without a microphone: both captions and an audible answer', async () => {
    await open(null)
    await page.fill('#words', 'Dobrý den')
    await page.press('#words', 'Enter')
    await line('person')
    assert.match((await words('person'))[0], /Dobrý den/)
    await line('assistant')
    await audible()
    await page.waitForSelector('#log [data-latency]')
    assert.equal(await page.evaluate(() => window.micAt), undefined)
  })

  test('"open the document welcome" opens it, and the assistant speaks of it only after the page has said so', async () => {
    await open(wav(3, 'open the document welcome', 3))
    await start()
    await page.waitForSelector('#reader[data-document=welcome] h2')
    await page.waitForSelector('#log [data-speaker=tool] [data-status=ok]')
    await page.waitForFunction(() => window.firstSeen.answerAfterTool !== undefined)
    const { answered, reported } = await page.evaluate(() => ({
      answered: window.firstSeen.answerAfterTool,
      reported: performance.getEntriesByType('resource').find((r) => r.name.endsWith('/outcome'))?.responseEnd,
    }))
    assert.ok(reported !== undefined && reported < answered, `reported at ${reported}, spoken of at ${answered}`)
  })

  test('with the page\'s answer held back for 7 s the tool is pending, and nothing is claimed', async () => {
    await open(wav(3, 'open the document welcome', 3))
    let release
    await page.route('**/demo/documents/welcome', async (route) => {
      await new Promise((r) => (release = r))
      await route.continue().catch(() => {})
    })
    await start()
    await page.waitForSelector('#log [data-speaker=tool] [data-status=pending]')
    await page.waitForFunction(() => window.firstSeen.answerAfterTool !== undefined)
    const outcomes = await page.evaluate(() => performance.getEntriesByType('resource').filter((r) => r.name.endsWith('/outcome')).length)
    assert.equal(outcomes, 0)
    release?.()
  })

  for (const [person, status] of [['alice', 'ok'], ['bob', 'denied']]) {
    test(`"read the document pricing" by ${person}: ${status}`, async () => {
      await open(wav(3, 'read the document pricing', 3), { person })
      await start()
      await page.waitForSelector(`#log [data-speaker=tool] [data-status=${status}]`)
      await page.waitForFunction(() => window.firstSeen.answerAfterTool !== undefined)
      if (person === 'bob') assert.equal((await words('assistant')).some((w) => /margin|insurer|nineteen euros/i.test(w)), false)
    })
  }

  test('talking over a long story stops it, and the words show what was heard', async () => {
    const mic = wav(3, 'tell me a long story', 7, 'stop', 4)
    await open(mic)
    await start()
    await says(page, 'state', 'speaking')
    await audible()
    await page.waitForSelector('#log .line[data-speaker=assistant] del')
    const story = page.locator('#log .line[data-speaker=assistant]', { has: page.locator('del') }).first()
    assert.ok((await story.locator('del').textContent()).trim().length > 0)
    assert.match(await story.locator('.more').textContent(), /interrupted/)
  })

  test('a person can type into a spoken talk, and the thread holds both', async () => {
    await open(wav(3, 'hello', 3))
    await start()
    await line('assistant')
    await page.fill('#words', 'open the document welcome')
    await page.press('#words', 'Enter')
    await page.waitForSelector('#reader[data-document=welcome]')
    assert.equal((await words('person')).length, 2)
  })

  test('hanging up and going on continues the same thread', async () => {
    await open(null)
    await page.fill('#words', 'hello')
    await page.press('#words', 'Enter')
    await line('assistant')
    const minted = page.waitForRequest((r) => r.url().endsWith('/client_secrets'))
    await page.click('#hangup')
    await says(page, 'phase', 'ended')
    await page.click('#start')
    assert.match((await minted).postData(), /"thread_id":"[^"]+"/)
    await says(page, 'phase', 'live')
    assert.ok((await words('person')).length >= 1)
  })
})

describe('a call whose provider runs apart', { skip: noBinary }, () => {
  before(async () => {
    gateway = await startGateway({ apart: true })
    url = gateway.url
  })
  after(() => gateway?.stop())

  test('the provider killed in mid-call: said within 3 s, the words kept, a new call goes on', async () => {
    await open(null)
    await page.fill('#words', 'hello')
    await page.press('#words', 'Enter')
    await line('assistant')
    await audible()
    const before = await words('person')
    await page.evaluate(() => new MutationObserver(() => (window.toldAt ??= performance.now())).observe(document.getElementById('notice'), { attributes: true, attributeFilter: ['hidden'] }))
    const at = await page.evaluate(() => performance.now())
    gateway.killProvider()
    await page.waitForSelector('#notice:not([hidden])')
    const took = (await page.evaluate(() => window.toldAt)) - at
    assert.ok(took <= 3_000, `told after ${took.toFixed(0)} ms`)
    assert.deepEqual(await words('person'), before)

    await gateway.startProvider()
    await page.click('#start')
    await says(page, 'phase', 'live')
    await page.fill('#words', 'hello again')
    await page.press('#words', 'Enter')
    await page.waitForFunction((n) => document.querySelectorAll('#log .line[data-speaker=person]').length > n, before.length)
    assert.equal((await words('person'))[0], before[0])
  })
})
