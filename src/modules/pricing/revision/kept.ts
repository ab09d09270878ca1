import { singleFlight } from '../../../kernel/single-flight.ts'
import type { Changes } from './changes.ts'

/**
 * What `load` reads, kept in this process until somebody changes it. Whoever asks for it at the same time shares one
 * reading. While changes may be missed, nothing is kept.
 */
export function keep<T>(changes: Pick<Changes, 'subscribe' | 'isLive'>, load: () => Promise<T>) {
  const loadOnce = singleFlight<T>()
  let known: { value: T } | undefined
  let generation = 0
  changes.subscribe(() => {
    generation += 1
    known = undefined
  })

  // What was read before a change, and arrives after its announcement, is already old: it must not be kept.
  const loadAndKeep = async () => {
    const generationBefore = generation
    const value = await load()
    if (generation === generationBefore && changes.isLive()) known = { value }
    return value
  }

  return async (): Promise<T> =>
    known !== undefined && changes.isLive() ? known.value : loadOnce(String(generation), loadAndKeep)
}
