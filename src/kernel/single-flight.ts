/** Deduplicates concurrent work: a call with a key whose work is in progress gets the same promise, rejection included. */
export function createSingleFlight<T>() {
  const underWay = new Map<string, Promise<T>>()

  return (key: string, work: () => Promise<T>): Promise<T> => {
    const running = underWay.get(key)
    if (running !== undefined) return running
    const started = Promise.try(work).finally(() => underWay.delete(key))
    underWay.set(key, started)
    return started
  }
}
