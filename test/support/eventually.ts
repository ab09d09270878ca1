import { vi } from 'vitest'

/** Waits until `assertion` holds, for as long as `expect.poll` does by default. */
export const eventually = (assertion: () => unknown): Promise<unknown> =>
  vi.waitFor(assertion, { timeout: 60_000, interval: 10 })
