// The matrix as it stands in signaling/protocol.md, between two markers.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const file = process.env.HOVOR_MATRIX_FILE ?? fileURLToPath(new URL('../../../../signaling/protocol.md', import.meta.url))
const begin = '<!-- matrix: written by the test run, HOVOR_MATRIX=write gateway/web/test/run.sh matrix -->'
const end = '<!-- /matrix -->'

/** Rows are [title, cells], columns titles, steps {letter: meaning}. */
export function table(columns, rows, steps) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(['client', ...columns]), `|${'---|'.repeat(columns.length + 1)}`, ...rows.map(([title, cells]) => line([title, ...cells])), '',
    `Every letter is a step that passed: ${Object.entries(steps).map(([letter, what]) => `**${letter}** ${what}`).join('; ')}.`].join('\n')
}

/** What stands in the page now. */
export function committed() {
  const text = readFileSync(file, 'utf8')
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`${file} has no place for the matrix: ${begin} … ${end}`)
  return { text, from: from + begin.length, to, table: text.slice(from + begin.length, to).trim() }
}

export function write(content) {
  const { text, from, to } = committed()
  writeFileSync(file, `${text.slice(0, from)}\n\n${content}\n\n${text.slice(to)}`)
}
