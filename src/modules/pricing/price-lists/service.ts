import { found } from '../../../kernel/errors.ts'
import { isUpdateWithoutEffect } from '../../../kernel/metadata-request.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { CacheInvalidator } from '../../../platform/cached.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { changeMetadata } from '../../../platform/postgres/metadata.ts'
import {
  priceListInUseError,
  priceListLimitReachedError,
  priceListNotFoundError,
  priceListStaleError
} from '../errors.ts'
import type { PriceChangeBroadcaster } from './price-changes.ts'
import * as repository from './repository.ts'
import {
  type CreatePriceListRequest,
  PRICE_LISTS_MAX,
  type PriceListQuery,
  type PriceListResponse,
  type UpdatePriceListRequest
} from './schema.ts'

type Deps = { db: Database; invalidation: CacheInvalidator; priceChanges: PriceChangeBroadcaster }

/** Manages price lists, whose prices replace those of the catalog in their markets. */
export function createPriceListService({ db, invalidation, priceChanges }: Deps) {
  const list = ({ metadata, ...query }: PriceListQuery): Promise<Page<PriceListResponse>> => {
    const filters = { metadata: metadata ?? null }
    return readPage(query, {
      ...newestFirst,
      name: 'price lists',
      filters,
      rows: page => db.rows(repository.listPriceLists, { ...filters, ...page }),
      total: () => db.first(repository.countPriceLists, filters)
    })
  }

  /** @throws `PRICING_PRICE_LIST_NOT_FOUND` */
  const read = async (id: string): Promise<PriceListResponse> =>
    found(await db.first(repository.findPriceList, { id }), priceListNotFoundError)

  /** @throws `PRICING_PARENT_LIST_INVALID`, `PRICING_ADJUSTMENT_INVALID`, `PRICING_PRICE_LIST_TOO_DEEP`, `PRICING_PRICE_LIST_LIMIT` */
  async function create(body: CreatePriceListRequest, write: IdempotentWrite): Promise<PriceListResponse> {
    const { name, currency, parent_id = null, adjustment_ppm = 0 } = body
    await write.once(db, async tx => {
      await tx.run(repository.insertPriceList, { id: write.id, name, currency, parent_id, adjustment_ppm })
      await changeMetadata(tx, repository.updatePriceListMetadata, { ...body, id: write.id })
      const { total = 0 } = (await tx.first(repository.countPriceLists, { metadata: null })) ?? {}
      if (total > PRICE_LISTS_MAX) throw priceListLimitReachedError({ details: { limit: PRICE_LISTS_MAX } })
      invalidation.publish(tx)
    })
    return read(write.id)
  }

  /** @throws `PRICING_PRICE_LIST_NOT_FOUND`, `PRICING_PRICE_LIST_STALE`, `PRICING_ADJUSTMENT_INVALID` */
  async function patch(
    id: string,
    body: UpdatePriceListRequest,
    write: IdempotentWrite
  ): Promise<PriceListResponse> {
    await write.once(db, async tx => {
      const stored = await lock(tx, id, write)
      if (isUpdateWithoutEffect(stored, body)) return
      await tx.run(repository.updatePriceList, { ...stored, ...body })
      await changeMetadata(tx, repository.updatePriceListMetadata, { ...body, id })
      invalidation.publish(tx)
      if (body.adjustment_ppm !== undefined) priceChanges.announce(tx, id, 'all')
    })
    return read(id)
  }

  /**
   * Deletes a list with its prices. @throws `PRICING_PRICE_LIST_NOT_FOUND`, `PRICING_PRICE_LIST_STALE`,
   * `PRICING_PRICE_LIST_IN_USE`
   */
  const remove = (id: string, write: IdempotentWrite) =>
    write.once(db, async tx => {
      await lock(tx, id, write)
      const used = await tx.first(repository.isPriceListInUse, { id })
      if (used?.is_used) throw priceListInUseError()
      await tx.run(repository.deletePriceList, { id })
      invalidation.publish(tx)
    })

  return { list, read, create, patch, remove }
}
export type PriceListService = ReturnType<typeof createPriceListService>

/** Locks the price list until `tx` ends. Transactions that reference it wait. */
async function lock(tx: Transaction, id: string, write: IdempotentWrite): Promise<repository.PriceListRow> {
  const stored = found(await tx.first(repository.lockPriceList, { id }), priceListNotFoundError)
  write.expect(stored.version, priceListStaleError)
  return stored
}
