/**
 * Resolves when the person can see the element: it is part of the page, has a size, is not hidden, its place on the screen belongs to
 * it, and the browser has painted since. A hidden tab paints nothing, so it waits there until it is looked at. Rejects on `signal`.
 */
export async function shown(el: HTMLElement, signal: AbortSignal): Promise<void> {
  for (;;) {
    await painted(signal)
    await painted(signal)
    if (visible(el)) return
  }
}

function painted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Error('nobody waits any longer'))
    const stop = () => {
      cancelAnimationFrame(frame)
      reject(new Error('nobody waits any longer'))
    }
    const frame = requestAnimationFrame(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    })
    signal.addEventListener('abort', stop, { once: true })
  })
}

function visible(el: HTMLElement): boolean {
  if (!el.isConnected || document.visibilityState !== 'visible') return false
  if (getComputedStyle(el).visibility !== 'visible') return false
  for (const box of el.getClientRects()) {
    const left = Math.max(box.left, 0)
    const right = Math.min(box.right, innerWidth)
    const top = Math.max(box.top, 0)
    const bottom = Math.min(box.bottom, innerHeight)
    if (right - left < 1 || bottom - top < 1) continue
    // The top of a long text counts as much as its middle.
    for (const y of [top + Math.min(12, (bottom - top) / 2), (top + bottom) / 2]) {
      const hit = document.elementFromPoint(Math.min(left + 12, (left + right) / 2), y)
      if (hit && (el.contains(hit) || hit === el)) return true
    }
  }
  return false
}
