import { openFlood, requestOf } from './flood.ts'
import { type Bench, fillShop, registerUsers, startShop, WITHOUT_LIMITS } from './shop.ts'
import { median, print, table } from './tables.ts'

const USERS = 256
const CONNECTIONS = 64
const PER_SECOND = 200
const ROUNDS = 7
const SECONDS = 4
const MAX_SECONDS = 3

/** Fills a migrated database with a shop, and opens readers of its carts: 256 customers, each with 5 lines. */
export async function openReaders({ databaseUrl, client }: Bench) {
  const first = await startShop(databaseUrl, WITHOUT_LIMITS)
  const users = await registerUsers(first.url, USERS)
  await first.stop()
  const ids = users.map(({ id }) => id)
  await fillShop(client, { lines: 5, variants: 10_000, carts: 10_000 }, ids)
  const requests = users.map(({ token }) => requestOf('GET', '/api/cart', { token }))
  const flood = openFlood()
  return {
    /**
     * 200 requests a second, whether or not those before are served. Answers the 99th percentile in milliseconds, counted
     * from the moment at which each was due.
     */
    p99: async (url: string, seconds: number): Promise<number> => {
      const load = { connections: CONNECTIONS, rate: PER_SECOND, requests }
      const { refused, other, failed, unsent, p99 } = await flood.run({ url, seconds, ...load })
      const lost = refused + other + failed + unsent
      if (lost > 0) throw new Error(`${lost} carts were not read`)
      return p99
    },
    close: flood.close
  }
}

/** The p99 of each round of readers alone, and beside something else: twice as long is allowed, or 10 ms. */
export function waits(alone: readonly number[], name: string, beside: readonly number[]): void {
  table('p99 of a cart, ms', { 'readers alone': alone, [name]: beside }, 'readers alone')
  print(`\n${Math.max(2 * median(alone), 10).toFixed(1)} ms are allowed.`)
}

/**
 * How long readers of carts wait while the process that answers them does something else, at half of what it can do. `open`
 * gets the address of the shop and returns a function that does the work for some seconds at a rate per second. Rate 0: as
 * often as possible.
 */
export async function besideReaders(
  bench: Bench,
  main: string,
  name: string,
  open: (url: string) => Promise<(seconds: number, perSecond: number) => Promise<number>>
): Promise<void> {
  const readers = await openReaders(bench)
  const shop = await startShop(bench.databaseUrl, {}, { main })
  try {
    const work = await open(shop.url)
    const most = [await work(MAX_SECONDS, 0), await work(MAX_SECONDS, 0), await work(MAX_SECONDS, 0)]
    const half = Math.round(median(most) / 2)
    print(`At most ${Math.round(median(most))}/s, so ${half}/s beside the readers.\n`)
    const seen: { alone: number[]; beside: number[] } = { alone: [], beside: [] }
    for (let round = 0; round <= ROUNDS; round += 1) {
      const alone = await readers.p99(shop.url, SECONDS)
      const [rate, both] = await Promise.all([work(SECONDS, half), readers.p99(shop.url, SECONDS)])
      if (rate < 0.95 * half) throw new Error(`only ${Math.round(rate)}/s of ${half} were done`)
      // The first one warms up.
      if (round === 0) continue
      seen.alone.push(alone)
      seen.beside.push(both)
    }
    waits(seen.alone, `beside ${name}`, seen.beside)
  } finally {
    await shop.stop()
    await readers.close()
  }
}
