import { found } from '../../../kernel/errors.ts'
import { LOWEST_ID } from '../../../kernel/ids.ts'
import { type Page, readPage } from '../../../kernel/pages.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { duplicatePriceError, priceListNotFoundError, priceNotFoundError } from '../errors.ts'
import type { PriceChangeBroadcaster } from '../price-lists/price-changes.ts'
import { findPriceList } from '../price-lists/repository.ts'
import * as repository from './repository.ts'
import type { ListedPriceResponse, PriceListPricesQuery, SetPricesRequest } from './schema.ts'
import { setPriceListEntries } from './set-entries.ts'

type PricePosition = { from_quantity: number; variant_id: string; limit: number }

/** Manages prices of lists. Variant ids are opaque; prices of deleted variants stay without effect. */
export function createPriceService({ db, changes }: { db: Database; changes: PriceChangeBroadcaster }) {
  /** @throws `PRICING_PRICE_LIST_NOT_FOUND` */
  async function list(listId: string, query: PriceListPricesQuery): Promise<Page<ListedPriceResponse>> {
    found(await db.first(findPriceList, { id: listId }), priceListNotFoundError)
    const { variant_id: only } = query
    const ofList = { list_id: listId }
    const statements =
      only === undefined
        ? {
            rows: (place: PricePosition) => db.rows(repository.listPricesOfList, { ...ofList, ...place }),
            total: () => db.first(repository.countPricesOfList, ofList)
          }
        : {
            rows: (place: PricePosition) =>
              db.rows(repository.listPricesOfVariantInList, { ...ofList, only, ...place }),
            total: () => db.first(repository.countPricesOfVariantInList, { ...ofList, variant_id: only })
          }
    const page = await readPage(query, {
      ...statements,
      name: 'prices',
      filters: [listId, only],
      start: { from_quantity: 0, variant_id: LOWEST_ID },
      placeOf: ({ from_quantity, variant_id }) => ({ from_quantity, variant_id })
    })
    const items = page.items.map(({ price_minor: price, ...row }) => ({ ...row, price }))
    return { ...page, items }
  }

  /**
   * Sets prices: all or none. @throws `PRICING_PRICE_LIST_NOT_FOUND`, `PRICING_PRICE_TWICE`,
   * `PRICING_BREAK_LIMIT`
   */
  async function set(listId: string, { prices }: SetPricesRequest, write: IdempotentWrite): Promise<void> {
    const wanted = prices.map(({ variant_id, from_quantity = 1, price }) => ({
      variantId: variant_id.toLowerCase(),
      fromQuantity: from_quantity,
      priceMinor: price
    }))
    const places = new Set(wanted.map(({ variantId, fromQuantity }) => `${variantId} ${fromQuantity}`))
    if (places.size < wanted.length) throw duplicatePriceError()
    await write.once(db, async tx => {
      await setPriceListEntries(tx, listId, wanted)
      changes.announce(
        tx,
        listId,
        wanted.map(({ variantId }) => variantId)
      )
    })
  }

  /** Deletes one price, or all prices of the variant without a quantity. @throws `PRICING_PRICE_NOT_FOUND` */
  async function remove(
    listId: string,
    variantId: string,
    fromQuantity: number | undefined,
    write: IdempotentWrite
  ) {
    await write.once(db, async tx => {
      const gone = await tx.rows(repository.deletePricesOfVariantInList, {
        list_id: listId,
        variant_id: variantId,
        from_quantity: fromQuantity ?? null
      })
      if (gone.length === 0) throw priceNotFoundError()
      changes.announce(tx, listId, [variantId.toLowerCase()])
    })
  }

  return { list, set, remove }
}
export type PriceService = ReturnType<typeof createPriceService>
