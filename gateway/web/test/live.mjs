// A running gateway for the tests: HOVOR_URL names one that is up; without it, HOVOR_BIN (or bin/hovor) is started with the quickstart's
// settings on free ports. The latter also knows how to run the provider apart, to be killed.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { executablePath } from './browser.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const bin = [process.env.HOVOR_BIN, join(root, 'bin/hovor')].find((p) => p && existsSync(p))

/** Why the live tests cannot run, or false. */
export const noGateway = !executablePath
  ? 'no Chromium found: install it or set HOVOR_CHROMIUM'
  : process.env.HOVOR_URL || bin
    ? false
    : 'no gateway: build bin/hovor, or set HOVOR_BIN, or HOVOR_URL to a running one'
export const noBinary = noGateway || (bin ? false : 'needs the binary itself: build bin/hovor or set HOVOR_BIN')

/** Starts a process and waits for a line of its output; what it said on the way is in the error. */
function started(args, { cwd, env, line }) {
  const child = spawn(bin, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  return new Promise((resolve, reject) => {
    let said = ''
    const fail = (why) => reject(new Error(`hovor ${args.join(' ')}: ${why}\n${said}`))
    for (const out of [child.stdout, child.stderr]) out.on('data', (d) => {
      if (said.length < 20_000) said += d
      const m = line.exec(said)
      if (m) resolve({ child, found: m })
    })
    child.on('error', fail)
    child.on('exit', (code) => fail(`ended with ${code}`))
  })
}

function ended(child) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    child.once('exit', resolve)
    child.kill('SIGINT')
    setTimeout(() => child.kill('SIGKILL'), 15_000).unref()
  })
}

const key = { HOVOR_PROVIDER_KEY: 'key-of-the-tests' }

/** {url, admin, stop()}, and with `apart` also killProvider() and startProvider(). */
export async function startGateway({ apart = false } = {}) {
  if (!apart && process.env.HOVOR_URL) {
    return { url: process.env.HOVOR_URL.replace(/\/$/, ''), admin: process.env.HOVOR_ADMIN_URL?.replace(/\/$/, ''), stop: async () => {} }
  }
  const cwd = mkdtempSync(join(tmpdir(), 'hovor-live-'))
  let config = readFileSync(join(root, 'gateway/config/quickstart.yaml'), 'utf8') + `\near:\n  model: ${join(root, '.models/silero/silero_vad_16k_op15.onnx')}\n`
  let provider
  const startProvider = async (listen) => {
    provider = await started(['provider', '--listen', listen], { cwd, env: key, line: /embedded provider on (http:\/\/([\d.:]+))\/v1\/realtime/ })
  }
  if (apart) {
    await startProvider('127.0.0.1:0')
    config = config.replace('{name: embedded, kind: local, brain: dialogue}', `{name: embedded, kind: openai, url: ${provider.found[1]}/v1, key_env: HOVOR_PROVIDER_KEY}`)
  }
  writeFileSync(join(cwd, 'hovor.yaml'), config)
  const gateway = await started(['serve', '--config', 'hovor.yaml', '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', '--media-port', '0'], {
    cwd, env: key, line: /page\s+(http:\S+)\s+metrics\s+(http:\S+)\/metrics/,
  })
  return {
    url: gateway.found[1],
    admin: gateway.found[2],
    killProvider: () => provider.child.kill('SIGKILL'),
    startProvider: () => startProvider(provider.found[2]),
    stop: async () => {
      await ended(gateway.child)
      if (provider) await ended(provider.child)
      rmSync(cwd, { recursive: true, force: true })
    },
  }
}

/** A gateway with one assistant per upstream of the matrix, named as in `upstreams`, and the embedded provider itself, apart. */
export async function startMatrix(upstreams) {
  const cwd = mkdtempSync(join(tmpdir(), 'hovor-matrix-'))
  const provider = await started(['provider', '--listen', '127.0.0.1:0'], { cwd, env: key, line: /embedded provider on (http:\/\/[\d.:]+)\/v1\/realtime/ })
  const lines = ['providers:', '  - {name: embedded, kind: local, brain: dialogue}', `  - {name: socket, kind: openai-ws, url: ${provider.found[1]}/v1, key_env: HOVOR_PROVIDER_KEY, model: gpt-realtime}`, 'assistants:',
    ...upstreams.map((u) => `  - {name: ${u.model}, aliases: [${u.model}], provider: ${u.provider}, mode: ${u.mode}}`), 'ear:', `  model: ${join(root, '.models/silero/silero_vad_16k_op15.onnx')}`]
  const quickstart = readFileSync(join(root, 'gateway/config/quickstart.yaml'), 'utf8')
  writeFileSync(join(cwd, 'hovor.yaml'), quickstart.slice(0, quickstart.indexOf('\nproviders:')) + '\n' + lines.join('\n') + '\n')
  const gateway = await started(['serve', '--config', 'hovor.yaml', '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', '--media-port', '0'], {
    cwd, env: key, line: /page\s+(http:\S+)\s+metrics\s+(http:\S+)\/metrics/,
  }).catch(async (err) => {
    await ended(provider.child) // it would keep the tests waiting
    throw err
  })
  return {
    url: gateway.found[1], provider: provider.found[1], key: key.HOVOR_PROVIDER_KEY,
    stop: async () => {
      await ended(gateway.child)
      await ended(provider.child)
      rmSync(cwd, { recursive: true, force: true })
    },
  }
}
