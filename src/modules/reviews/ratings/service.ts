import { RecentMap } from '../../../kernel/recent-map.ts'
import { singleFlight } from '../../../kernel/single-flight.ts'
import type { Broadcast } from '../../../platform/broadcast.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import { averageOf, countOf, type Histogram } from './histogram.ts'
import * as repository from './repository.ts'

const TOPIC = 'ratings'
const KEPT_MAX = 50_000
/** Of a message, which may have 7,900 bytes. */
const IDS_A_MESSAGE = 200

export type Rating = {
  readonly average: number | null
  readonly count: number
  readonly histogram: Histogram
}
const ratingOf = (histogram: Histogram): Rating => ({
  average: averageOf(histogram),
  count: countOf(histogram),
  histogram
})
const UNRATED = ratingOf([0, 0, 0, 0, 0])

type Deps = { db: Queryable; broadcast: Broadcast }

/**
 * What products are rated, kept in this process until it changes: this one knows of a change when its transaction has
 * returned, others do within a second. While changes may be missed, nothing is kept.
 */
export function createRatings({ db, broadcast }: Deps) {
  const known = new RecentMap<Rating>(KEPT_MAX)
  const loadOnce = singleFlight<ReadonlyMap<string, Rating>>()
  let generation = 0
  const forget = (productIds: readonly string[]) => {
    generation += 1
    for (const id of productIds) known.delete(id)
  }
  broadcast.subscribe(TOPIC, {
    onMessage: message => forget(message.split(',')),
    onGap: () => {
      generation += 1
      known.clear()
    }
  })

  async function load(product_ids: readonly string[]): Promise<ReadonlyMap<string, Rating>> {
    const generationBefore = generation
    const rows = await db.rows(repository.listRatings, { product_ids })
    const rated = new Map(
      rows.map(row => [
        row.product_id,
        ratingOf([row.stars_1, row.stars_2, row.stars_3, row.stars_4, row.stars_5])
      ])
    )
    // What was read before a change, and arrives after its announcement, is already old.
    if (generation === generationBefore && broadcast.isLive())
      for (const id of product_ids) known.set(id, rated.get(id) ?? UNRATED)
    return rated
  }

  return {
    /** Of these products, in their order. From memory, or with one statement for all that is not there. */
    of: async (productIds: readonly string[]): Promise<Rating[]> => {
      const isLive = broadcast.isLive()
      const kept = productIds.map(id => (isLive ? known.get(id) : undefined))
      const missing = productIds.filter((_id, index) => kept[index] === undefined)
      if (missing.length === 0) return kept as Rating[]
      const loaded = await loadOnce(`${generation} ${missing}`, () => load(missing))
      return productIds.map((id, index) => kept[index] ?? loaded.get(id) ?? UNRATED)
    },
    /**
     * One review of a product counts otherwise from the commit of `tx` on; `before` and `after`: its stars, null while
     * nobody sees it. All who review a product want its row, so that is taken together with the commit.
     */
    count: (tx: Transaction, product_id: string, before: number | null, after: number | null): void => {
      if (before === after) return
      tx.withCommit(last =>
        Promise.all([
          last.run(repository.countReview, { product_id, before, after }),
          broadcast.publish(last, TOPIC, product_id)
        ])
      )
      tx.afterCommit(() => forget([product_id]))
    },
    /** Makes the counts of these products those of their published reviews, whoever is writing meanwhile. */
    recount: async (tx: Transaction, product_ids: readonly string[]): Promise<void> => {
      await tx.run(repository.insertMissing, { product_ids })
      await tx.rows(repository.lockRatings, { product_ids })
      await tx.run(repository.recount, { product_ids })
      for (let from = 0; from < product_ids.length; from += IDS_A_MESSAGE)
        await broadcast.publish(tx, TOPIC, product_ids.slice(from, from + IDS_A_MESSAGE).join())
      tx.afterCommit(() => forget(product_ids))
    }
  }
}
export type Ratings = ReturnType<typeof createRatings>
