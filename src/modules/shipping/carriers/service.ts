import { found } from '../../../kernel/errors.ts'
import { LOWEST_ID } from '../../../kernel/ids.ts'
import { type Page, readPage } from '../../../kernel/pages.ts'
import { isEmptyPatch } from '../../../kernel/patch.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { CacheInvalidator } from '../../../platform/cached.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { carrierNotFoundError, carrierStaleError, shippingRulesLimitReachedError } from '../errors.ts'
import { lockShippingRules } from '../rules/repository.ts'
import * as repository from './repository.ts'
import {
  CARRIERS_MAX,
  type CarrierResponse,
  type CreateCarrierRequest,
  type UpdateCarrierRequest
} from './schema.ts'

/** Carriers: tracking links and formats of tracking numbers. */
export function createCarrierService({ db, invalidation }: { db: Database; invalidation: CacheInvalidator }) {
  const list = (query: PageQuery): Promise<Page<CarrierResponse>> =>
    readPage(query, {
      name: 'carriers',
      start: { code: '', id: LOWEST_ID },
      rows: place => db.rows(repository.listCarriers, place),
      placeOf: ({ code, id }) => ({ code, id }),
      total: () => db.first(repository.countCarriers)
    })

  /** @throws `SHIPPING_CARRIER_NOT_FOUND` */
  const read = async (id: string): Promise<CarrierResponse> =>
    found(await db.first(repository.findCarrierById, { id }), carrierNotFoundError)

  /** @throws `SHIPPING_CARRIER_TAKEN`, `SHIPPING_RULES_LIMIT` */
  async function create(body: CreateCarrierRequest, write: IdempotentWrite): Promise<CarrierResponse> {
    const { code, name, tracking_url = null, number_rules = [] } = body
    await write.once(db, async tx => {
      await tx.run(lockShippingRules)
      const { total = 0 } = (await tx.first(repository.countCarriers)) ?? {}
      if (total >= CARRIERS_MAX) throw shippingRulesLimitReachedError({ details: { limit: CARRIERS_MAX } })
      await tx.run(repository.insertCarrier, { id: write.id, code, name, tracking_url, number_rules })
      invalidation.publish(tx)
    })
    return read(write.id)
  }

  /** @throws `SHIPPING_CARRIER_NOT_FOUND`, `SHIPPING_CARRIER_STALE`, `SHIPPING_CARRIER_TAKEN` */
  async function patch(
    id: string,
    body: UpdateCarrierRequest,
    write: IdempotentWrite
  ): Promise<CarrierResponse> {
    await write.once(db, async tx => {
      const { code: _, version: _version, created_at: _at, ...stored } = await lock(tx, id, write)
      if (isEmptyPatch(body)) return
      await tx.run(repository.updateCarrier, { ...stored, ...body })
      invalidation.publish(tx)
    })
    return read(id)
  }

  /**
   * Deletes a carrier. Parcels keep the carrier's name. @throws `SHIPPING_CARRIER_NOT_FOUND`,
   * `SHIPPING_CARRIER_STALE`
   */
  async function remove(id: string, write: IdempotentWrite): Promise<void> {
    await write.once(db, async tx => {
      await lock(tx, id, write)
      await tx.run(repository.deleteCarrier, { id })
      invalidation.publish(tx)
    })
  }

  return { list, read, create, patch, remove }
}
export type CarrierService = ReturnType<typeof createCarrierService>

/** Locks the carrier until `tx` ends. */
async function lock(tx: Transaction, id: string, write: IdempotentWrite): Promise<repository.CarrierRow> {
  await tx.run(lockShippingRules)
  const stored = found(await tx.first(repository.findCarrierById, { id }), carrierNotFoundError)
  write.expect(stored.version, carrierStaleError)
  return stored
}
