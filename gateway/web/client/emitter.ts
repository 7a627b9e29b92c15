/** A minimal typed event source. `on` returns the function that ends the subscription. */
export class Emitter<Events extends object> {
  #listeners = new Map<keyof Events, Set<(value: never) => void>>()

  on<K extends keyof Events>(type: K, listener: (value: Events[K]) => void): () => void {
    const set = this.#listeners.get(type) ?? new Set()
    this.#listeners.set(type, set)
    set.add(listener as (value: never) => void)
    return () => void set.delete(listener as (value: never) => void)
  }

  protected emit<K extends keyof Events>(type: K, value: Events[K]): void {
    for (const listener of [...(this.#listeners.get(type) ?? [])]) (listener as (value: Events[K]) => void)(value)
  }
}
