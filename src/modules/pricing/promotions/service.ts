import { found } from '../../../kernel/errors.ts'
import { isUpdateWithoutEffect } from '../../../kernel/metadata-request.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { CacheInvalidator } from '../../../platform/cached.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { changeMetadata } from '../../../platform/postgres/metadata.ts'
import {
  automaticPromotionLimitReachedError,
  promotionNotFoundError,
  promotionStaleError,
  promotionUsedByOrdersError,
  usageLimitBelowUsesError
} from '../errors.ts'
import type { PricingPeriodParser } from '../input-formats/periods.ts'
import { isPromotionRedeemed } from '../redemptions/repository.ts'
import {
  insertPromotionOrCodeUsageLimit,
  setPromotionOrCodeUsageLimit
} from '../redemptions/usage-limits-repository.ts'
import * as repository from './repository.ts'
import {
  AUTOMATIC_PROMOTIONS_MAX,
  type CreatePromotionRequest,
  type PromotionQuery,
  type PromotionResponse,
  type UpdatePromotionRequest
} from './schema.ts'

type Deps = { db: Database; invalidation: CacheInvalidator; periods: PricingPeriodParser }

/** Manages promotions. */
export function createPromotionService({ db, invalidation, periods }: Deps) {
  async function list({ metadata, ...query }: PromotionQuery): Promise<Page<PromotionResponse>> {
    const filters = { metadata: metadata ?? null }
    const page = await readPage(query, {
      ...newestFirst,
      name: 'promotions',
      filters,
      rows: page => db.rows(repository.listPromotions, { ...filters, ...page }),
      total: () => db.first(repository.countPromotions, filters)
    })
    return { ...page, items: page.items.map(present) }
  }

  /** @throws `PRICING_PROMOTION_NOT_FOUND` */
  const read = async (id: string): Promise<PromotionResponse> =>
    present(found(await db.first(repository.findPromotion, { id }), promotionNotFoundError))

  /**
   * @throws `PRICING_MOMENT_INVALID`, `PRICING_PERIOD_INVALID`, `PRICING_EFFECT_INVALID`, `PRICING_PROMOTION_MARKET_UNKNOWN`,
   * `PRICING_PROMOTION_LIMIT`
   */
  async function create(body: CreatePromotionRequest, write: IdempotentWrite): Promise<PromotionResponse> {
    const { uses_max = null, markets, starts_at = null, ends_at = null, ...fields } = body
    const row = {
      ...DEFAULTS,
      ...fields,
      id: write.id,
      starts_at: periods.read(starts_at, 'starts_at'),
      ends_at: periods.read(ends_at, 'ends_at')
    }
    await write.once(db, async tx => {
      await tx.run(repository.insertPromotion, row)
      await changeMetadata(tx, repository.updatePromotionMetadata, { ...body, id: write.id })
      await tx.run(insertPromotionOrCodeUsageLimit, { id: write.id, uses_max })
      await tx.run(repository.insertPromotionMarkets, { id: write.id, markets: markets ?? [] })
      if (isAutomatic(row)) await checkLimit(tx)
      invalidation.publish(tx)
    })
    return read(write.id)
  }

  /** @throws `PRICING_PROMOTION_NOT_FOUND`, `PRICING_PROMOTION_STALE`, `PRICING_USES_TAKEN`, and what `create` throws */
  async function patch(
    id: string,
    body: UpdatePromotionRequest,
    write: IdempotentWrite
  ): Promise<PromotionResponse> {
    const { uses_max, markets, starts_at, ends_at, ...fields } = body
    const [startsAt, endsAt] = [periods.read(starts_at, 'starts_at'), periods.read(ends_at, 'ends_at')]
    await write.once(db, async tx => {
      const stored = await lock(tx, id, write)
      if (isUpdateWithoutEffect(stored, body)) return
      const period = {
        starts_at: startsAt === undefined ? stored.starts_at : startsAt,
        ends_at: endsAt === undefined ? stored.ends_at : endsAt
      }
      const row = { ...stored, ...fields, ...period }
      await tx.run(repository.updatePromotion, row)
      await changeMetadata(tx, repository.updatePromotionMetadata, { ...body, id })
      if (
        uses_max !== undefined &&
        (await tx.first(setPromotionOrCodeUsageLimit, { id, uses_max })) === undefined
      )
        throw usageLimitBelowUsesError()
      if (markets !== undefined) {
        await tx.run(repository.deletePromotionMarkets, { id })
        await tx.run(repository.insertPromotionMarkets, { id, markets: markets ?? [] })
      }
      // The limit is checked only when the promotion becomes automatic, so other changes stay possible above
      // the limit.
      if (isAutomatic(row) && !isAutomatic(stored)) await checkLimit(tx)
      invalidation.publish(tx)
    })
    return read(id)
  }

  /**
   * Deletes a promotion with its codes. @throws `PRICING_PROMOTION_NOT_FOUND`, `PRICING_PROMOTION_STALE`,
   * `PRICING_PROMOTION_USED`
   */
  const remove = (id: string, write: IdempotentWrite) =>
    write.once(db, async tx => {
      await lock(tx, id, write)
      const used = await tx.first(isPromotionRedeemed, { promotion_id: id })
      if (used?.is_used) throw promotionUsedByOrdersError()
      await tx.run(repository.deletePromotion, { id })
      invalidation.publish(tx)
    })

  return { list, read, create, patch, remove }
}
export type PromotionService = ReturnType<typeof createPromotionService>

const DEFAULTS = {
  priority: 0,
  active: true,
  needs_code: false,
  minimum: null,
  minimum_quantity: 0,
  product_ids: null,
  category_ids: null,
  shipping_method_ids: null,
  cheapest_only: false,
  first_order_only: false,
  customer_group: null,
  combines: [],
  uses_per_customer: null
}

type Automatic = Pick<repository.PromotionRow, 'active' | 'needs_code' | 'ends_at'>
/** Returns whether the promotion applies without a code, now or later. */
const isAutomatic = ({ active, needs_code, ends_at }: Automatic): boolean =>
  active && !needs_code && (ends_at === null || ends_at > new Date())

/** @throws `PRICING_PROMOTION_LIMIT` */
async function checkLimit(tx: Transaction): Promise<void> {
  await tx.run(repository.lockAutomaticPromotions)
  const { total = 0 } = (await tx.first(repository.countAutomaticPromotions)) ?? {}
  if (total > AUTOMATIC_PROMOTIONS_MAX)
    throw automaticPromotionLimitReachedError({ details: { limit: AUTOMATIC_PROMOTIONS_MAX } })
}

/** Locks the promotion until `tx` ends. */
async function lock(
  tx: Transaction,
  id: string,
  write: IdempotentWrite
): Promise<repository.AdminPromotionRow> {
  const stored = found(await tx.first(repository.lockPromotion, { id }), promotionNotFoundError)
  write.expect(stored.version, promotionStaleError)
  return stored
}

const present = ({
  markets,
  customer_group: _,
  ...row
}: repository.AdminPromotionRow): PromotionResponse => ({
  ...row,
  combines: row.combines as PromotionResponse['combines'],
  markets: markets.length === 0 ? null : markets
})
