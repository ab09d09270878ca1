/** A semaphore of `max` slots, first come, first served. */
export function createPlaces(max: number) {
  const waiting: (() => void)[] = []
  let taken = 0
  return {
    take: async (): Promise<void> => {
      if (taken === max) await new Promise<void>(resolve => waiting.push(resolve))
      else taken += 1
    },
    give: (): void => {
      const next = waiting.shift()
      if (next === undefined) taken -= 1
      else next()
    }
  }
}
