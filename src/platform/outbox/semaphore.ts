/** Lets `max` callers continue at a time. The others wait in the order of `acquire`. */
export function createSemaphore(max: number) {
  const waiting: (() => void)[] = []
  let taken = 0
  return {
    isFree: (): boolean => taken < max,
    acquire: async (): Promise<void> => {
      if (taken === max) await new Promise<void>(resolve => waiting.push(resolve))
      else taken += 1
    },
    release: (): void => {
      const next = waiting.shift()
      if (next === undefined) taken -= 1
      else next()
    }
  }
}
