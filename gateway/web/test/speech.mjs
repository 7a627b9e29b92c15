// Spoken fixtures, and the one WAV that a Chromium with a fake microphone plays: silence, words, silence, words.
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = process.env.HOVOR_SPEECH ?? fileURLToPath(new URL('../../provider/local/testdata/speech', import.meta.url))
const tokens = (name) => name.toLowerCase().replace(/\.wav$/, '').split(/[^a-z0-9]+/).filter(Boolean)

/** The fixture for these words: the one whose name holds most of them and nothing else ("open-welcome.wav"). */
export function fixture(words) {
  const said = new Set(tokens(words))
  const names = existsSync(folder) ? readdirSync(folder).filter((n) => n.endsWith('.wav') && tokens(n).every((t) => said.has(t))) : []
  const [name] = names.sort((a, b) => tokens(b).length - tokens(a).length)
  if (!name) throw new Error(`no fixture says "${words}" in ${folder}`)
  return read(join(folder, name))
}

function read(path) {
  const b = readFileSync(path)
  let at = 12
  let rate = 0
  while (at + 8 <= b.length) {
    const id = b.toString('latin1', at, at + 4)
    const size = b.readUInt32LE(at + 4)
    if (id === 'fmt ') {
      if (b.readUInt16LE(at + 8) !== 1 || b.readUInt16LE(at + 10) !== 1 || b.readUInt16LE(at + 22) !== 16) throw new Error(`${path}: 16-bit mono PCM is wanted`)
      rate = b.readUInt32LE(at + 12)
    } else if (id === 'data') {
      return { rate, pcm: b.subarray(at + 8, Math.min(at + 8 + size, b.length)) }
    }
    at += 8 + size + (size & 1)
  }
  throw new Error(`${path}: no sound in it`)
}

/**
 * Writes a WAV of the parts (numbers are seconds of silence, strings are fixtures' words) and returns its path and at which second each
 * fixture starts and ends. `%noloop` makes Chromium play it once, from the moment the microphone opens.
 */
export function wav(...parts) {
  const sounds = parts.map((p) => (typeof p === 'string' ? fixture(p) : p))
  const rate = sounds.find((s) => s.rate)?.rate ?? 16_000
  const spans = []
  let at = 0
  const pcm = Buffer.concat(sounds.map((s) => {
    const chunk = typeof s === 'number' ? Buffer.alloc(Math.round(s * rate) * 2) : s.pcm
    if (typeof s !== 'number' && s.rate !== rate) throw new Error('fixtures of one file must have one sample rate')
    const start = at
    at += chunk.length / 2 / rate
    if (typeof s !== 'number') spans.push({ start, end: at })
    return chunk
  }))
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + pcm.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(rate, 24)
  head.writeUInt32LE(rate * 2, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(pcm.length, 40)
  const path = join(mkdtempSync(join(tmpdir(), 'hovor-speech-')), 'microphone.wav')
  writeFileSync(path, Buffer.concat([head, pcm]))
  return { path: path + '%noloop', spans }
}
