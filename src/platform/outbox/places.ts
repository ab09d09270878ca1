/** So many at once; who comes later waits for a place, in turn. */
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
