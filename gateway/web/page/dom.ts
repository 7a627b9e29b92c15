/** The element with this id, of this kind; a missing one is a mistake of ours and fails at once. */
export function byId<T extends HTMLElement>(id: string): T {
  const el = document.getElementById(id)
  if (!el) throw new Error(`no element #${id}`)
  return el as T
}

type Child = Node | string | null | undefined

/** Makes an element: `h('p', {class: 'none', lang: 'cs'}, 'text')`. Attributes that are null are left out. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Record<string, string | null> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const el = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) if (value !== null) el.setAttribute(name, value)
  el.append(...children.filter((c): c is Node | string => c !== null && c !== undefined))
  return el
}

export function button(text: string, press: () => void): HTMLButtonElement {
  const el = h('button', { type: 'button' }, h('span', {}, text))
  el.addEventListener('click', press)
  return el
}

/** Changes a text only when it differs, so that live regions and the layout stay calm. */
export function setText(el: HTMLElement, text: string): void {
  if (el.textContent !== text) el.textContent = text
}
