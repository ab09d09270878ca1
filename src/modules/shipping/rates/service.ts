import { found } from '../../../kernel/errors.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import { isEmptyPatch } from '../../../kernel/patch.ts'
import type { CacheInvalidator } from '../../../platform/cached.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import {
  priceTableInvalidError,
  shippingMethodNotFoundError,
  shippingRateNotFoundError,
  shippingRateStaleError,
  shippingRulesLimitReachedError
} from '../errors.ts'
import { findShippingMethod } from '../methods/repository.ts'
import type { ShippingPriceTable } from '../rules/options.ts'
import { lockShippingRules } from '../rules/repository.ts'
import * as repository from './repository.ts'
import {
  type CreateShippingRateRequest,
  SHIPPING_RATES_PER_SHOP_MAX,
  type ShippingPriceTableRequest,
  type ShippingRateQuery,
  type ShippingRateResponse,
  type UpdateShippingRateRequest
} from './schema.ts'

const FAULTS_SHOWN_MAX = 8
const NO_FILTER = { method: null, zone: null, currency: null }

type Deps = { db: Database; invalidation: CacheInvalidator; currency: string }

/** Rates: the price of a method in a zone and a currency. */
export function createShippingRateService({ db, invalidation, currency: shopCurrency }: Deps) {
  async function list({
    method_id,
    zone_id,
    currency,
    ...query
  }: ShippingRateQuery): Promise<Page<ShippingRateResponse>> {
    const filters = { method: method_id ?? null, zone: zone_id ?? null, currency: currency ?? null }
    const page = await readPage(query, {
      ...newestFirst,
      name: 'shipping rates',
      filters,
      rows: page => db.rows(repository.listShippingRates, { ...filters, ...page }),
      total: () => db.first(repository.countShippingRates, filters)
    })
    return { ...page, items: page.items.map(present) }
  }

  /** @throws `SHIPPING_RATE_NOT_FOUND` */
  const read = async (id: string): Promise<ShippingRateResponse> =>
    present(found(await db.first(repository.findShippingRate, { id }), shippingRateNotFoundError))

  /**
   * @throws `SHIPPING_METHOD_NOT_FOUND`, `SHIPPING_ZONE_NOT_FOUND`, `SHIPPING_RATE_PLACE`, `SHIPPING_RATE_TAKEN`,
   * `SHIPPING_TABLE_INVALID`, `SHIPPING_RULES_LIMIT`
   */
  async function create(
    body: CreateShippingRateRequest,
    write: IdempotentWrite
  ): Promise<ShippingRateResponse> {
    const { method_id, zone_id = null, currency = shopCurrency, free_from: free_from_minor = null } = body
    const price = 'table' in body ? tablePrice(body.table) : amountPrice(body.amount)
    await write.once(db, async tx => {
      await tx.run(lockShippingRules)
      const { total = 0 } = (await tx.first(repository.countShippingRates, NO_FILTER)) ?? {}
      if (total >= SHIPPING_RATES_PER_SHOP_MAX)
        throw shippingRulesLimitReachedError({ details: { limit: SHIPPING_RATES_PER_SHOP_MAX } })
      const { kind } = found(
        await tx.first(findShippingMethod, { id: method_id }),
        shippingMethodNotFoundError
      )
      const place = { id: write.id, method_id, kind, zone_id, currency }
      await tx.run(repository.insertShippingRate, { ...place, ...price, free_from_minor })
      invalidation.publish(tx)
    })
    return read(write.id)
  }

  /** @throws `SHIPPING_RATE_NOT_FOUND`, `SHIPPING_RATE_STALE`, `SHIPPING_TABLE_INVALID` */
  async function patch(
    id: string,
    body: UpdateShippingRateRequest,
    write: IdempotentWrite
  ): Promise<ShippingRateResponse> {
    const { amount, table, free_from } = body
    const price = table ? tablePrice(table) : amount === undefined ? {} : amountPrice(amount)
    await write.once(db, async tx => {
      const { free_from_minor, ...stored } = await lock(tx, id, write)
      if (isEmptyPatch(body)) return
      const freeFrom = { free_from_minor: free_from === undefined ? free_from_minor : free_from }
      await tx.run(repository.updateShippingRate, { ...stored, ...freeFrom, ...price })
      invalidation.publish(tx)
    })
    return read(id)
  }

  /** @throws `SHIPPING_RATE_NOT_FOUND`, `SHIPPING_RATE_STALE` */
  async function remove(id: string, write: IdempotentWrite): Promise<void> {
    await write.once(db, async tx => {
      await lock(tx, id, write)
      await tx.run(repository.deleteShippingRate, { id })
      invalidation.publish(tx)
    })
  }

  return { list, read, create, patch, remove }
}
export type ShippingRateService = ReturnType<typeof createShippingRateService>

/** Locks the rate until `tx` ends. */
async function lock(
  tx: Transaction,
  id: string,
  write: IdempotentWrite
): Promise<repository.ShippingRateRow> {
  await tx.run(lockShippingRules)
  const stored = found(await tx.first(repository.findShippingRate, { id }), shippingRateNotFoundError)
  write.expect(stored.version, shippingRateStaleError)
  return stored
}

const amountPrice = (amount_minor: number) => ({ amount_minor, price_table: null })

/** Bounds must rise, and only the last step may have none. @throws `SHIPPING_TABLE_INVALID` */
function tablePrice({ by, steps }: ShippingPriceTableRequest) {
  const errors = steps.flatMap(({ up_to }, index) => {
    const path = `body/table/steps/${index}/up_to`
    const before = steps[index - 1]?.up_to ?? -1
    if (up_to === null)
      return index < steps.length - 1 ? [{ path, message: 'must be a number, except on the last step' }] : []
    return up_to > before ? [] : [{ path, message: 'must be more than on the step before' }]
  })
  if (errors.length > 0)
    throw priceTableInvalidError({ details: { errors: errors.slice(0, FAULTS_SHOWN_MAX) } })
  const price_table: ShippingPriceTable = {
    by,
    steps: steps.map(({ up_to, amount }) => ({ upTo: up_to, amountMinor: amount }))
  }
  return { amount_minor: null, price_table }
}

function present({
  amount_minor: amount,
  price_table: table,
  free_from_minor: free_from,
  ...rate
}: repository.ShippingRateRow): ShippingRateResponse {
  const steps = table?.steps.map(({ upTo, amountMinor }) => ({ up_to: upTo, amount: amountMinor }))
  return { ...rate, amount, table: table && steps ? { by: table.by, steps } : null, free_from }
}
