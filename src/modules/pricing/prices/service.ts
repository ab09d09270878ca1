import { found } from '../../../kernel/errors.ts'
import { FIRST_ID } from '../../../kernel/ids.ts'
import { type Page, readPage } from '../../../kernel/pages.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { priceListNotFound, priceNotFound, priceTwice } from '../errors.ts'
import { findPriceList } from '../price-lists/repository.ts'
import type { PriceChanges } from './changes.ts'
import * as repository from './repository.ts'
import type { ListedPriceResponse, PricesQuery, SetPricesRequest } from './schema.ts'
import { setPrices } from './set.ts'

type Place = { from_quantity: number; variant_id: string; limit: number }

/** The prices of the lists. To it the ids of variants mean nothing: prices of those that are gone stay, and hurt nobody. */
export function createPriceService({ db, changes }: { db: Database; changes: PriceChanges }) {
  /** @throws `PRICING_PRICE_LIST_NOT_FOUND` */
  async function list(listId: string, query: PricesQuery): Promise<Page<ListedPriceResponse>> {
    found(await db.first(findPriceList, { id: listId }), priceListNotFound)
    const { variant_id: only } = query
    const ofList = { list_id: listId }
    const statements =
      only === undefined
        ? {
            rows: (place: Place) => db.rows(repository.listPrices, { ...ofList, ...place }),
            total: () => db.first(repository.countPrices, ofList)
          }
        : {
            rows: (place: Place) => db.rows(repository.listPricesOf, { ...ofList, only, ...place }),
            total: () => db.first(repository.countPricesOf, { ...ofList, variant_id: only })
          }
    const page = await readPage(query, {
      ...statements,
      name: 'prices',
      filters: [listId, only],
      start: { from_quantity: 0, variant_id: FIRST_ID },
      placeOf: ({ from_quantity, variant_id }) => ({ from_quantity, variant_id })
    })
    const items = page.items.map(({ price_minor: price, ...row }) => ({ ...row, price }))
    return { ...page, items }
  }

  /** @throws `PRICING_PRICE_LIST_NOT_FOUND`, `PRICING_PRICE_TWICE`, `PRICING_BREAK_LIMIT`; then none is set. */
  async function set(listId: string, { prices }: SetPricesRequest, write: Write): Promise<void> {
    const wanted = prices.map(({ variant_id, from_quantity = 1, price }) => ({
      variantId: variant_id.toLowerCase(),
      fromQuantity: from_quantity,
      priceMinor: price
    }))
    const places = new Set(wanted.map(({ variantId, fromQuantity }) => `${variantId} ${fromQuantity}`))
    if (places.size < wanted.length) throw priceTwice()
    await write.once(db, async tx => {
      await setPrices(tx, listId, wanted)
      changes.announce(
        tx,
        listId,
        wanted.map(({ variantId }) => variantId)
      )
    })
  }

  /** Without a quantity, all prices of the variant. @throws `PRICING_PRICE_NOT_FOUND` */
  async function remove(listId: string, variantId: string, fromQuantity: number | undefined, write: Write) {
    await write.once(db, async tx => {
      const gone = await tx.rows(repository.deletePrices, {
        list_id: listId,
        variant_id: variantId,
        from_quantity: fromQuantity ?? null
      })
      if (gone.length === 0) throw priceNotFound()
      changes.announce(tx, listId, [variantId.toLowerCase()])
    })
  }

  return { list, set, remove }
}
export type PriceService = ReturnType<typeof createPriceService>
