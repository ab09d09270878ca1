import { found } from '../../../kernel/errors.ts'
import { isId, LOWEST_ID, newId } from '../../../kernel/ids.ts'
import { type Page, readPage } from '../../../kernel/pages.ts'
import { isEmptyPatch } from '../../../kernel/patch.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { CacheInvalidator } from '../../../platform/cached.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Queryable, Transaction } from '../../../platform/postgres/database.ts'
import {
  defaultMarketProtectedError,
  marketInUseError,
  marketLimitReachedError,
  marketNotFoundError,
  marketStaleError
} from '../errors.ts'
import type { PriceChangeBroadcaster } from '../price-lists/price-changes.ts'
import * as repository from './repository.ts'
import {
  type CreateMarketRequest,
  MARKETS_MAX,
  type MarketResponse,
  type UpdateMarketRequest
} from './schema.ts'

type Deps = { db: Database; invalidation: CacheInvalidator; priceChanges: PriceChangeBroadcaster }

/** Manages markets: currency, countries, and prices with or without tax. */
export function createMarketService({ db, invalidation, priceChanges }: Deps) {
  const list = (query: PageQuery): Promise<Page<MarketResponse>> =>
    readPage(query, {
      name: 'markets',
      start: { code: '', id: LOWEST_ID },
      placeOf: ({ code, id }) => ({ code, id }),
      rows: place => db.rows(repository.listMarkets, place),
      total: () => db.first(repository.countMarkets)
    })

  /** Returns the id of a market that is named by its id or code. @throws `PRICING_MARKET_NOT_FOUND` */
  async function idOf(from: Queryable, named: string): Promise<string> {
    const id = named.toLowerCase()
    if (isId(id)) return id
    return found(await from.first(repository.findMarketIdByCode, { code: named }), marketNotFoundError).id
  }

  /** @throws `PRICING_MARKET_NOT_FOUND` */
  const read = async (named: string): Promise<MarketResponse> =>
    found(await db.first(repository.findMarket, { id: await idOf(db, named) }), marketNotFoundError)

  /** @throws `PRICING_MARKET_CODE_TAKEN`, `PRICING_COUNTRY_TAKEN`, `PRICING_MARKET_LIST_INVALID`, `PRICING_MARKET_LIMIT` */
  async function create(body: CreateMarketRequest, write: IdempotentWrite): Promise<MarketResponse> {
    const {
      tax_rounding = 'group',
      cash_rounding = 1,
      price_list_id = null,
      active = true,
      exclusive = true
    } = body
    await write.once(db, async tx => {
      await tx.run(repository.lockDefaultMarket)
      const { total = 0 } = (await tx.first(repository.countMarkets)) ?? {}
      if (total >= MARKETS_MAX) throw marketLimitReachedError({ details: { limit: MARKETS_MAX } })
      await tx.run(repository.insertMarket, {
        ...body,
        id: write.id,
        tax_rounding,
        cash_rounding,
        price_list_id,
        active,
        exclusive
      })
      await tx.run(repository.insertMarketCountries, { id: write.id, countries: body.countries })
      announce(tx, null, price_list_id)
    })
    return read(write.id)
  }

  /** @throws `PRICING_MARKET_NOT_FOUND`, `PRICING_MARKET_STALE`, `PRICING_MARKET_DEFAULT`, `PRICING_COUNTRY_TAKEN`, `PRICING_MARKET_LIST_INVALID` */
  async function patch(
    named: string,
    body: UpdateMarketRequest,
    write: IdempotentWrite
  ): Promise<MarketResponse> {
    await write.once(db, async tx => {
      const id = await idOf(tx, named)
      const stored = await lock(tx, id, write)
      if (isEmptyPatch(body)) return
      const changed = { ...stored, ...body }
      if (stored.is_default && !(changed.active && changed.currency === stored.currency))
        throw defaultMarketProtectedError()
      await tx.run(repository.updateMarket, changed)
      if (body.countries !== undefined) {
        await tx.run(repository.deleteMarketCountries, { id })
        await tx.run(repository.insertMarketCountries, { id, countries: body.countries })
      }
      announce(tx, stored.price_list_id, changed.price_list_id)
    })
    return read(named)
  }

  /** @throws `PRICING_MARKET_NOT_FOUND`, `PRICING_MARKET_STALE`, `PRICING_MARKET_DEFAULT`, `PRICING_MARKET_IN_USE` */
  const remove = (named: string, write: IdempotentWrite) =>
    write.once(db, async tx => {
      const stored = await lock(tx, await idOf(tx, named), write)
      if (stored.is_default) throw defaultMarketProtectedError()
      const used = await tx.first(repository.isMarketUsedByPromotion, { code: stored.code })
      if (used?.is_used) throw marketInUseError()
      await tx.run(repository.deleteMarket, { id: stored.id })
      announce(tx, stored.price_list_id, null)
    })

  /** Publishes changed markets. When the price list changes, subscribers drop the prices of both lists. */
  function announce(tx: Transaction, listBefore: string | null, listAfter: string | null) {
    invalidation.publish(tx)
    if (listBefore === listAfter) return
    for (const listId of [listBefore, listAfter])
      if (listId !== null) priceChanges.announce(tx, listId, 'all')
  }

  return { list, read, create, patch, remove }
}
export type MarketService = ReturnType<typeof createMarketService>

/** Locks the market until `tx` ends. */
async function lock(tx: Transaction, id: string, write: IdempotentWrite): Promise<repository.MarketRow> {
  const stored = found(await tx.first(repository.lockMarket, { id }), marketNotFoundError)
  write.expect(stored.version, marketStaleError)
  return stored
}

/** Creates the default market at the first start, and keeps its currency equal to the shop's. */
export async function ensureDefaultMarket(
  db: Database,
  invalidation: CacheInvalidator,
  currency: string
): Promise<void> {
  const present = await db.first(repository.findDefaultMarket)
  if (present?.currency === currency) return
  await db.transaction(async tx => {
    await tx.run(repository.insertDefaultMarket, { id: newId(), currency })
    await tx.run(repository.setDefaultMarketCurrency, { currency })
    invalidation.publish(tx)
  })
}
