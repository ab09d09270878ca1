import {
  type CatalogApi,
  type Database,
  found,
  type IdempotentWrite,
  newestFirst,
  type Offer,
  type Page,
  type RowOf,
  readPage,
  type Transaction,
  type wire
} from 'cartwright'
import { wishlistFullError, wishNotFoundError } from '../errors.ts'
import * as repository from './repository.ts'
import type { AddWishRequest, WishResponse } from './schema.ts'

type Deps = { db: Database; catalog: CatalogApi; wishesMax: number }

export function createWishService({ db, catalog, wishesMax }: Deps) {
  async function list(customer_id: string, query: wire.PageQuery): Promise<Page<WishResponse>> {
    const page = await readPage(query, {
      name: 'wishes',
      filters: customer_id,
      ...newestFirst,
      rows: place => db.rows(repository.listWishes, { customer_id, ...place }),
      total: () => db.first(repository.countWishes, { customer_id })
    })
    // One question for all of them, never one for each.
    const offers = await catalog.offers(page.items.map(oneOf), null)
    return { ...page, items: page.items.map((wish, index) => withPrice(wish, offers[index])) }
  }

  /** @throws `CATALOG_VARIANT_NOT_FOUND`, `WISHLIST_FULL`, `WISHLIST_WISH_TAKEN` */
  async function add(
    customer_id: string,
    { variant_id }: AddWishRequest,
    write: IdempotentWrite
  ): Promise<WishResponse> {
    const { id } = write
    await write.once(db, async tx => {
      await catalog.requireVariant(variant_id)
      await tx.run(repository.lockWishlist, { customer_id })
      const { total } = found(await tx.first(repository.countWishes, { customer_id }), wishNotFoundError)
      if (total >= wishesMax) throw wishlistFullError({ details: { limit: wishesMax } })
      await tx.run(repository.insertWish, { id, customer_id, variant_id })
    })
    const wish = found(await db.first(repository.findWish, { customer_id, id }), wishNotFoundError)
    const [offer] = await catalog.offers([oneOf(wish)], null)
    return withPrice(wish, offer)
  }

  /** @throws `WISHLIST_WISH_NOT_FOUND` */
  async function remove(customer_id: string, id: string, write: IdempotentWrite): Promise<void> {
    await write.once(db, async tx => {
      if ((await tx.run(repository.deleteWish, { customer_id, id })) === 0) throw wishNotFoundError()
    })
  }

  return {
    list,
    add,
    remove,
    /** Deletes all wishes of the customer. */
    erase: async (tx: Transaction, customer_id: string): Promise<void> => {
      await tx.run(repository.deleteWishes, { customer_id })
    },
    /** Returns all wishes of the customer. */
    export: async (customer_id: string) => ({
      wishes: await db.rows(repository.exportWishes, { customer_id })
    })
  }
}
export type WishService = ReturnType<typeof createWishService>

const oneOf = ({ variant_id }: { variant_id: string }) => ({ variantId: variant_id, quantity: 1 })

const withPrice = (wish: RowOf<typeof repository.findWish>, offer: Offer | undefined): WishResponse => ({
  ...wish,
  price: offer?.discountedPrice ?? null,
  currency: offer?.currency ?? null
})
