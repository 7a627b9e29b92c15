import { cs } from './text/cs'
import { de } from './text/de'
import { en, type Key, type Table } from './text/en'
import { ru } from './text/ru'

const tables: Record<string, Table> = { en, cs, de, ru }

/** The page's language: `?lang=`, else the first of the browser's languages that there is a table for, else English. */
export const language: string = [new URLSearchParams(location.search).get('lang'), ...navigator.languages]
  .map((l) => (l ?? '').toLowerCase().split('-')[0] ?? '')
  .find((l) => l in tables) ?? 'en'

/** The browser's own form of that language, for dates and numbers: en-GB writes them otherwise than en-US. */
export const locale: string = navigator.languages.find((l) => l.toLowerCase().split('-')[0] === language) ?? language

const table = tables[language] ?? en

/** The text of a key, with `{name}` replaced. */
export function t(key: Key, values: Record<string, string> = {}): string {
  return table[key].replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
}

/** The text of a key that is put together from a word of the wire, or the word itself when there is none. */
export function named(prefix: string, word: string): string {
  const key = `${prefix}.${word}`
  return key in table ? table[key as Key] : word.replaceAll('_', ' ')
}

const shortest = 50 // ms

/** A duration; what is too short to be told apart is said to be short, and not to be nothing. */
export function seconds(ms: number): string {
  if (ms < shortest) return `< ${seconds(shortest)}`
  const digits = ms < 9_950 ? 2 : 1
  return t('seconds', { n: new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(ms / 1_000) })
}

/** Fills in every element that names its text: data-t for the content, data-t-label for its accessible name, data-t-hint for a placeholder. */
export function translate(root: ParentNode): void {
  for (const el of root.querySelectorAll<HTMLElement>('[data-t]')) el.textContent = t(el.dataset.t as Key)
  for (const el of root.querySelectorAll<HTMLElement>('[data-t-label]')) el.setAttribute('aria-label', t(el.dataset.tLabel as Key))
  for (const el of root.querySelectorAll<HTMLInputElement>('[data-t-hint]')) el.placeholder = t(el.dataset.tHint as Key)
}
