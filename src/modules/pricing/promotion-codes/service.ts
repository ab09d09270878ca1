import { randomInt } from 'node:crypto'
import type { Readable } from 'node:stream'
import { found } from '../../../kernel/errors.ts'
import { HIGHEST_ID, newId } from '../../../kernel/ids.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import { createCsvStream, csvLine } from '../../../platform/csv/write.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { promotionCodeNotFoundError, promotionNotFoundError, usageLimitBelowUsesError } from '../errors.ts'
import { findPromotion } from '../promotions/repository.ts'
import { normalizePromotionCode } from '../quote/codes.ts'
import {
  insertPromotionOrCodeUsageLimit,
  setPromotionOrCodeUsageLimit
} from '../redemptions/usage-limits-repository.ts'
import * as repository from './repository.ts'
import type {
  CreatePromotionCodeBatchRequest,
  CreatePromotionCodeRequest,
  PromotionCodeBatchResponse,
  PromotionCodeResponse,
  PromotionCodesQuery,
  UpdatePromotionCodeRequest
} from './schema.ts'

const PAGE_CODES = 1_000
const CSV_COLUMNS = ['code', 'active', 'uses_max', 'uses_left', 'batch_id'] as const

/**
 * Manages codes of promotions: single ones and random batches. Codes are stored and shown in normalized
 * form.
 */
export function createPromotionCodeService({ db }: { db: Database }) {
  const requirePromotion = async (id: string) =>
    found(await db.first(findPromotion, { id }), promotionNotFoundError)

  /** @throws `PRICING_PROMOTION_NOT_FOUND` */
  async function list(promotionId: string, query: PromotionCodesQuery): Promise<Page<PromotionCodeResponse>> {
    await requirePromotion(promotionId)
    const of = { promotion_id: promotionId, batch_id: query.batch_id ?? null }
    return readPage(query, {
      ...newestFirst,
      name: 'codes',
      filters: of,
      rows: page => db.rows(repository.listPromotionCodes, { ...of, ...page }),
      total: () => db.first(repository.countPromotionCodes, of)
    })
  }

  const read = async (promotionId: string, id: string): Promise<PromotionCodeResponse> =>
    found(
      await db.first(repository.findPromotionCode, { promotion_id: promotionId, id }),
      promotionCodeNotFoundError
    )

  /** @throws `PRICING_PROMOTION_NOT_FOUND`, `PRICING_CODE_TAKEN` */
  async function create(
    promotionId: string,
    body: CreatePromotionCodeRequest,
    write: IdempotentWrite
  ): Promise<PromotionCodeResponse> {
    await write.once(db, async tx => {
      const code = normalizePromotionCode(body.code)
      await tx.run(repository.insertPromotionCode, { id: write.id, promotion_id: promotionId, code })
      await tx.run(insertPromotionOrCodeUsageLimit, { id: write.id, uses_max: body.uses_max ?? null })
    })
    return read(promotionId, write.id)
  }

  /** @throws `PRICING_PROMOTION_NOT_FOUND` */
  async function createBatch(
    promotionId: string,
    { count, prefix = '', length = 10, uses_max = 1 }: CreatePromotionCodeBatchRequest,
    write: IdempotentWrite
  ): Promise<PromotionCodeBatchResponse> {
    await write.once(db, async tx => {
      for (let missing = count; missing > 0; ) {
        const drawn = Array.from({ length: missing }, () =>
          normalizePromotionCode(randomCode(prefix, length))
        )
        const codes = [...new Set(drawn)]
        const made = await tx.rows(repository.insertPromotionCodeBatch, {
          ids: codes.map(newId),
          codes,
          promotion_id: promotionId,
          batch_id: write.id,
          uses_max
        })
        missing -= made.length
      }
    })
    return { batch_id: write.id, count }
  }

  /** @throws `PRICING_CODE_NOT_FOUND`, `PRICING_USES_TAKEN` */
  async function patch(
    promotionId: string,
    id: string,
    { active, uses_max }: UpdatePromotionCodeRequest,
    write: IdempotentWrite
  ): Promise<PromotionCodeResponse> {
    await write.once(db, async tx => {
      found(
        await tx.first(repository.lockPromotionCode, { promotion_id: promotionId, id }),
        promotionCodeNotFoundError
      )
      if (active !== undefined) await tx.run(repository.setPromotionCodeActive, { id, active })
      if (uses_max === undefined) return
      if ((await tx.first(setPromotionOrCodeUsageLimit, { id, uses_max })) === undefined)
        throw usageLimitBelowUsesError()
    })
    return read(promotionId, id)
  }

  /**
   * Exports all codes as CSV. Each page shows the codes at the time it is read. @throws
   * `PRICING_PROMOTION_NOT_FOUND`
   */
  async function exportCsv(promotionId: string): Promise<Readable> {
    await requirePromotion(promotionId)
    return createCsvStream(CSV_COLUMNS, linesOf(db, promotionId))
  }

  return { list, create, createBatch, patch, exportCsv }
}
export type PromotionCodeService = ReturnType<typeof createPromotionCodeService>

async function* linesOf(db: Database, promotionId: string): AsyncGenerator<string> {
  for (let after = HIGHEST_ID; ; ) {
    const place = { promotion_id: promotionId, batch_id: null, after, limit: PAGE_CODES }
    const rows = await db.rows(repository.listPromotionCodes, place)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows.map(row => csvLine(CSV_COLUMNS.map(column => row[column]))).join('')
    after = last.id
  }
}

/** Characters of random codes. Look-alikes are left out, and U as well, so that codes rarely spell words. */
const LETTERS = 'ABCDEFGHJKMNPQRSTVWXYZ23456789'

/** Creates a random code that cannot be guessed. */
const randomCode = (prefix: string, length: number): string =>
  prefix + Array.from({ length }, () => LETTERS[randomInt(LETTERS.length)]).join('')
