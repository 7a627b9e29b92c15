/** Folds what people and models write differently: case, runs of white space, kinds of quotes and dashes. */
function fold(c: string): string {
  if (/\s|\u00ad|\u200b/.test(c)) return ' '
  if (/[‘’‚‛′]/.test(c)) return "'"
  if (/[“”„‟«»″]/.test(c)) return '"'
  if (/[‐‑‒–—−]/.test(c)) return '-'
  const low = c.toLowerCase()
  return low.length === c.length ? low : c
}

/** Takes away all marks in an element. */
export function unmark(root: HTMLElement): void {
  for (const mark of root.querySelectorAll('mark')) {
    const parent = mark.parentNode
    mark.replaceWith(...mark.childNodes)
    parent?.normalize()
  }
}

/**
 * Finds a passage in the text of an element, across its paragraphs and whatever their white space, and marks it. Returns the marks in
 * order; empty when the passage is not there word for word.
 */
export function mark(root: HTMLElement, passage: string): HTMLElement[] {
  unmark(root)
  const nodes: Text[] = []
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let n = walker.nextNode(); n; n = walker.nextNode()) nodes.push(n as Text)

  let text = ''
  const at: { node: number; offset: number }[] = [] // where each folded character stands
  nodes.forEach((node, i) => {
    for (let offset = 0; offset < node.data.length; offset++) {
      const c = fold(node.data[offset]!)
      if (c === ' ' && text.endsWith(' ')) continue
      text += c
      at.push({ node: i, offset })
    }
    if (!text.endsWith(' ')) {
      text += ' ' // paragraphs are words apart
      at.push({ node: i, offset: node.data.length })
    }
  })
  const wanted = [...passage].map(fold).join('').replace(/ +/g, ' ').trim()
  const start = wanted ? text.indexOf(wanted) : -1
  if (start < 0) return []
  const from = at[start]!
  const to = at[start + wanted.length - 1]!

  const marks: HTMLElement[] = []
  for (let i = from.node; i <= to.node; i++) {
    const node = nodes[i]!
    const range = document.createRange()
    range.setStart(node, i === from.node ? from.offset : 0)
    range.setEnd(node, i === to.node ? Math.min(to.offset + 1, node.data.length) : node.data.length)
    if (range.toString().trim() === '') continue
    const el = document.createElement('mark')
    range.surroundContents(el)
    marks.push(el)
  }
  return marks
}
