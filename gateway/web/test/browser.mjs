// Chromium for the tests: one launch per set of flags, a fresh context per test, and "the far side", a second page that answers the
// page's call with a real peer connection and does what the test says.
import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

export const executablePath = [process.env.HOVOR_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => p && existsSync(p))

const always = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
  '--disable-features=WebRtcHideLocalIpsWithMdns', '--allow-loopback-in-peer-connection', '--autoplay-policy=no-user-gesture-required']

/** A Chromium. `microphone`: true for a fake device (a beeping one, or the WAV in `wav`), false for a machine that has none. */
export function launch({ microphone = true, wav = '', flags = [] } = {}) {
  const fake = microphone ? ['--use-fake-device-for-media-stream'] : []
  if (wav) fake.push(`--use-file-for-fake-audio-capture=${wav}`)
  return chromium.launch({ executablePath, headless: true, args: [...always, ...fake, ...flags] })
}

/** The far side of every call that the page opens at `fake`. */
export async function farSide(browser, fake) {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto('about:blank')
  await page.evaluate(() => {
    window.calls = []
    window.answer = async (sdp) => {
      const pc = new RTCPeerConnection()
      const audio = new AudioContext()
      const out = audio.createMediaStreamDestination()
      const gain = audio.createGain()
      gain.gain.value = 0
      const tone = audio.createOscillator()
      tone.frequency.value = 220
      tone.connect(gain).connect(out)
      tone.start()
      const call = { pc, gain, received: [], channel: null }
      window.calls.push(call)
      pc.ondatachannel = (e) => {
        call.channel = e.channel
        e.channel.onmessage = (m) => call.received.push(JSON.parse(m.data))
      }
      await pc.setRemoteDescription({ type: 'offer', sdp })
      pc.addTrack(out.stream.getAudioTracks()[0], out.stream)
      await pc.setLocalDescription(await pc.createAnswer())
      if (pc.iceGatheringState !== 'complete') {
        await new Promise((done) => (pc.onicegatheringstatechange = () => pc.iceGatheringState === 'complete' && done()))
      }
      return pc.localDescription.sdp
    }
    window.current = () => window.calls[window.calls.length - 1]
  })
  fake.answer = async (sdp) => ({ status: 201, body: await page.evaluate((s) => window.answer(s), sdp) })
  let count = 0
  const far = {
    page,
    /** Waits until the newest call's channel is open, and greets it as a gateway does. */
    async greet({ thread = 'thread_1', person = 'Alice', language = 'en' } = {}) {
      await page.waitForFunction(() => window.current()?.channel?.readyState === 'open')
      await far.send({ type: 'session.created', session: { type: 'realtime', audio: { input: { turn_detection: { type: 'server_vad', create_response: true, interrupt_response: true } } } } })
      await far.send({ type: 'hovor.call', call_id: `call_${await page.evaluate(() => window.calls.length)}`, thread_id: thread, person: { id: person.toLowerCase(), name: person }, assistant: 'demo', language, audio_path: 'relay' })
      await far.send({ type: 'hovor.state', state: 'listening' })
    },
    send: (...events) =>
      page.evaluate((list) => list.forEach((e) => window.current().channel.send(JSON.stringify(e))), events.map((e) => ({ event_id: `event_${++count}`, ...e }))),
    received: () => page.evaluate(() => window.current()?.received ?? []),
    types: async () => (await far.received()).map((e) => e.type),
    /** Waits for the n-th event of a type and returns it. */
    async wait(type, n = 1) {
      await page.waitForFunction(([t, k]) => (window.current()?.received ?? []).filter((e) => e.type === t).length >= k, [type, n])
      return (await far.received()).filter((e) => e.type === type)[n - 1]
    },
    forget: () => page.evaluate(() => void (window.current().received.length = 0)),
    tone: (on) => page.evaluate((g) => void (window.current().gain.gain.value = g), on ? 0.3 : 0),
    drop: () => page.evaluate(() => window.current().pc.close()),
    calls: () => page.evaluate(() => window.calls.length),
    close: () => context.close(),
  }
  return far
}

/** A page of Hovor in a context of its own, with the microphone allowed unless said otherwise. Uncaught errors fail the test's end. */
export async function openPage(browser, url, { allow = true, size = { width: 1280, height: 800 }, query = '', locale = 'en-GB', ...rest } = {}) {
  const context = await browser.newContext({ viewport: size, locale, ...rest })
  if (allow) await context.grantPermissions(['microphone'], { origin: new URL(url).origin })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  page.faults = []
  page.on('pageerror', (e) => page.faults.push(String(e)))
  page.on('console', (m) => /Content Security Policy/.test(m.text()) && page.faults.push(m.text()))
  await page.goto(url.startsWith("about:") ? url : url + "/" + query)
  return page
}

/** Waits until the page itself says this about itself: phase, mic or state. */
export const says = (page, what, value) => page.waitForFunction(([k, v]) => document.documentElement.dataset[k] === v, [what, value])
