/** Runs work by key; whoever asks while the same is under way gets the same promise, success or failure. */
export function singleFlight<T>() {
  const underWay = new Map<string, Promise<T>>()

  return (key: string, work: () => Promise<T>): Promise<T> => {
    const running = underWay.get(key)
    if (running !== undefined) return running
    const started = Promise.try(work).finally(() => underWay.delete(key))
    underWay.set(key, started)
    return started
  }
}
