// The published @openai/agents-realtime, unmodified, on a page of another origin, with only its URL changed.
// See live.mjs for which gateway.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import assert from 'node:assert/strict'
import { launch } from './browser.mjs'
import { noGateway, startGateway } from './live.mjs'
import { wav } from './speech.mjs'

const web = fileURLToPath(new URL('..', import.meta.url))

let server, origin, browser, gateway, url
before(async () => {
  if (noGateway) return
  gateway = await startGateway()
  url = gateway.url
  const out = join(mkdtempSync(join(tmpdir(), 'hovor-stock-')), 'main.js')
  execFileSync('go', ['run', 'github.com/evanw/esbuild/cmd/esbuild', 'test/stock/main.js', '--bundle', '--format=esm', '--log-level=error', `--outfile=${out}`], { cwd: web, stdio: 'inherit' })
  const files = { '/': ['text/html', readFileSync(join(web, 'test/stock/index.html'))], '/main.js': ['text/javascript', readFileSync(out)] }
  server = createServer((req, res) => {
    const file = files[new URL(req.url, 'http://x').pathname]
    if (!file) return res.writeHead(404).end()
    res.writeHead(200, { 'content-type': file[0] }).end(file[1])
  })
  await new Promise((r) => server.listen(0, '127.0.0.1', r))
  origin = `http://127.0.0.1:${server.address().port}`
})
after(async () => {
  server?.close()
  await gateway?.stop()
})
afterEach(() => browser?.close())

async function connect(mic, person = 'alice') {
  browser = await launch({ wav: mic?.path ?? '' })
  const context = await browser.newContext()
  await context.grantPermissions(['microphone'], { origin })
  const page = await context.newPage()
  page.setDefaultTimeout(45_000)
  await page.goto(`${origin}/?${new URLSearchParams({ gateway: url, bearer: `demo-${person}` })}`)
  await page.waitForFunction(() => window.connect)
  await page.evaluate(() => window.connect())
  return page
}
const event = (page, type, n = 1) => page.waitForFunction(([t, k]) => window.stock.events.filter((e) => e.type === t).length >= k, [type, n])

describe('the stock client', { skip: noGateway }, () => {
  test('connects, and its session is confirmed', async () => {
    const page = await connect(null)
    await event(page, 'session.updated')
    assert.match(await page.evaluate(() => window.stock.session.transport.callId), /^[\w.-]+$/)
    assert.equal(await page.evaluate(() => window.stock.error), null)
  })

  test('is heard, and hears', async () => {
    const page = await connect(wav(4, 'hello', 4))
    await page.waitForFunction(() => window.stock.history.some((i) => i.role === 'user' && i.content.some((c) => c.transcript)))
    await page.waitForFunction(() => window.stock.history.some((i) => i.role === 'assistant' && i.content.some((c) => c.transcript)))
    await page.waitForFunction(async () => (await window.energy()) > 1e-4, undefined, { polling: 100 })
    assert.match(await page.evaluate(() => window.stock.history.find((i) => i.role === 'user').content[0].transcript), /hello/i)
    assert.equal(await page.evaluate(() => window.stock.error), null)
  })

  test('interrupts by its own call', async () => {
    const page = await connect(null)
    await event(page, 'session.updated')
    await page.evaluate(() => window.say('tell me a long story'))
    await event(page, 'output_audio_buffer.started')
    await page.waitForFunction(async () => (await window.energy()) > 1e-4, undefined, { polling: 100 })
    await page.evaluate(() => window.interrupt())
    await event(page, 'output_audio_buffer.cleared')
    await event(page, 'response.done')
  })

  test('interrupts by talking', async () => {
    const page = await connect(wav(4, 'tell me a long story', 7, 'stop', 4))
    await event(page, 'output_audio_buffer.started')
    await event(page, 'output_audio_buffer.cleared')
    await event(page, 'conversation.item.truncated')
    await page.waitForFunction(() => window.stock.events.some((e) => e.type === 'response.done' && e.response.status === 'cancelled'))
  })

  test('runs a tool whose execute posts to the gateway, and its output is the recorded one', async () => {
    const page = await connect(null)
    await event(page, 'session.updated')
    await page.evaluate(() => window.say('read the document welcome'))
    await page.waitForFunction(() => window.stock.tools.length > 0)
    const [run] = await page.evaluate(() => window.stock.tools)
    assert.equal(run.httpStatus, 200)
    assert.equal(run.status, 'ok')
    await page.waitForFunction(() => {
      const events = window.stock.events
      const out = events.findIndex((e) => e.item?.type === 'function_call_output')
      return events.slice(Math.max(out, 0)).some((e) => e.type === 'response.output_audio_transcript.done' && e.transcript)
    })
    const given = await page.evaluate(() => window.stock.events.find((e) => e.item?.type === 'function_call_output')?.item.output)
    if (given !== undefined) assert.equal(given, run.output, 'the gateway replaced the output')
    assert.equal(await page.evaluate(() => window.stock.error), null)
  })

  test('bob\'s tool is refused to bob, in the person\'s own name', async () => {
    const page = await connect(null, 'bob')
    await event(page, 'session.updated')
    await page.evaluate(() => window.say('read the document pricing 2019'))
    await page.waitForFunction(() => window.stock.tools.length > 0)
    const [run] = await page.evaluate(() => window.stock.tools)
    assert.equal(run.status, 'denied')
  })
})
