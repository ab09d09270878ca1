import { found } from '../../../kernel/errors.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import { isEmptyPatch } from '../../../kernel/patch.ts'
import { normalizeVatId } from '../../../kernel/vat-id.ts'
import type { CacheInvalidator } from '../../../platform/cached.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import {
  taxExemptionNotFoundError,
  taxRecordLimitReachedError,
  taxRecordStaleError,
  vatIdInvalidError
} from '../errors.ts'
import type { PricingPeriodParser } from '../input-formats/periods.ts'
import * as repository from './exemption-repository.ts'
import {
  type CreateTaxExemptionRequest,
  TAX_EXEMPTIONS_MAX,
  type TaxExemptionResponse,
  type TaxExemptionsQuery,
  type UpdateTaxExemptionRequest
} from './exemption-schema.ts'

type Deps = { db: Database; invalidation: CacheInvalidator; periods: PricingPeriodParser }

/** Manages tax exemptions of customers. */
export function createTaxExemptionService({ db, invalidation, periods }: Deps) {
  const read = async (id: string): Promise<TaxExemptionResponse> =>
    found(await db.first(repository.findTaxExemption, { id }), taxExemptionNotFoundError)

  return {
    read,
    list: ({ customer_id: only, ...query }: TaxExemptionsQuery): Promise<Page<TaxExemptionResponse>> => {
      const customer_id = only ?? null
      return readPage(query, {
        ...newestFirst,
        name: 'tax exemptions',
        filters: customer_id,
        rows: page => db.rows(repository.listTaxExemptions, { ...page, customer_id }),
        total: () => db.first(repository.countTaxExemptions, { customer_id })
      })
    },
    /** @throws `PRICING_VAT_ID_INVALID`, `PRICING_PERIOD_INVALID`, `PRICING_MOMENT_INVALID`, `PRICING_TAX_LIMIT` */
    create: async (
      body: CreateTaxExemptionRequest,
      write: IdempotentWrite
    ): Promise<TaxExemptionResponse> => {
      const { countries = null } = body
      const period = {
        starts_at: periods.read(body.starts_at ?? null, 'starts_at'),
        ends_at: periods.read(body.ends_at ?? null, 'ends_at')
      }
      const vat_id = checkedVatId(body.vat_id ?? null)
      await write.once(db, async tx => {
        await tx.run(repository.insertTaxExemption, { ...body, ...period, vat_id, countries, id: write.id })
        const counted = await tx.first(repository.countTaxExemptions, { customer_id: null })
        if ((counted?.total ?? 0) > TAX_EXEMPTIONS_MAX)
          throw taxRecordLimitReachedError({ details: { limit: TAX_EXEMPTIONS_MAX } })
        invalidation.publish(tx)
      })
      return read(write.id)
    },
    /** @throws `PRICING_TAX_EXEMPTION_NOT_FOUND`, `PRICING_TAX_STALE`, and the errors of `create` */
    patch: async (
      id: string,
      body: UpdateTaxExemptionRequest,
      write: IdempotentWrite
    ): Promise<TaxExemptionResponse> => {
      const { starts_at, ends_at, vat_id, ...fields } = body
      const [startsAt, endsAt] = [periods.read(starts_at, 'starts_at'), periods.read(ends_at, 'ends_at')]
      const vatId = vat_id === undefined ? undefined : checkedVatId(vat_id)
      await write.once(db, async tx => {
        const stored = await lock(tx, id, write)
        if (isEmptyPatch(body)) return
        await tx.run(repository.updateTaxExemption, {
          ...stored,
          ...fields,
          vat_id: vatId === undefined ? stored.vat_id : vatId,
          starts_at: startsAt === undefined ? stored.starts_at : startsAt,
          ends_at: endsAt === undefined ? stored.ends_at : endsAt
        })
        invalidation.publish(tx)
      })
      return read(id)
    },
    /** @throws `PRICING_TAX_EXEMPTION_NOT_FOUND`, `PRICING_TAX_STALE` */
    remove: (id: string, write: IdempotentWrite) =>
      write.once(db, async tx => {
        await lock(tx, id, write)
        await tx.run(repository.deleteTaxExemption, { id })
        invalidation.publish(tx)
      })
  }
}
export type TaxExemptionService = ReturnType<typeof createTaxExemptionService>

/** Locks the exemption until `tx` ends. */
async function lock(tx: Transaction, id: string, write: IdempotentWrite) {
  const stored = found(await tx.first(repository.lockTaxExemption, { id }), taxExemptionNotFoundError)
  write.expect(stored.version, taxRecordStaleError)
  return stored
}

/** Normalizes a VAT id with its country prefix, as invoices show it. @throws `PRICING_VAT_ID_INVALID` */
function checkedVatId(text: string | null): string | null {
  if (text === null) return null
  const vatId = normalizeVatId(text, '')
  if (vatId === null || !/^[A-Z]{2}/.test(vatId)) throw vatIdInvalidError()
  return vatId
}
