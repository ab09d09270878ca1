import {
  type DeliveryArea,
  deliveryAreaFault,
  isAreaPrecedenceAmbiguous,
  normalizeDeliveryArea
} from '../../../kernel/areas.ts'
import { found } from '../../../kernel/errors.ts'
import type { FieldFault } from '../../../kernel/faults.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import { isEmptyPatch } from '../../../kernel/patch.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { CacheInvalidator } from '../../../platform/cached.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import {
  shippingRulesLimitReachedError,
  shippingZoneAreasAmbiguousError,
  shippingZoneAreasInvalidError,
  shippingZoneNotFoundError,
  shippingZoneStaleError
} from '../errors.ts'
import { lockShippingRules } from '../rules/repository.ts'
import * as repository from './repository.ts'
import {
  type CreateShippingZoneRequest,
  SHIPPING_ZONES_PER_SHOP_MAX,
  type ShippingZoneAreaRequest,
  type ShippingZoneResponse,
  type UpdateShippingZoneRequest
} from './schema.ts'

const FAULTS_SHOWN_MAX = 8

/** Shipping zones: areas with the same rates. */
export function createShippingZoneService({
  db,
  invalidation
}: {
  db: Database
  invalidation: CacheInvalidator
}) {
  async function list(query: PageQuery): Promise<Page<ShippingZoneResponse>> {
    const page = await readPage(query, {
      ...newestFirst,
      name: 'shipping zones',
      rows: page => db.rows(repository.listShippingZones, page),
      total: () => db.first(repository.countShippingZones)
    })
    return { ...page, items: page.items.map(present) }
  }

  /** @throws `SHIPPING_ZONE_NOT_FOUND` */
  const read = async (id: string): Promise<ShippingZoneResponse> =>
    present(found(await db.first(repository.findShippingZoneById, { id }), shippingZoneNotFoundError))

  /** @throws `SHIPPING_AREAS_INVALID`, `SHIPPING_ZONE_AMBIGUOUS`, `SHIPPING_RULES_LIMIT` */
  async function create(
    body: CreateShippingZoneRequest,
    write: IdempotentWrite
  ): Promise<ShippingZoneResponse> {
    const areas = readAreas(body.areas)
    await write.once(db, async tx => {
      const others = await lock(tx)
      if (others.length >= SHIPPING_ZONES_PER_SHOP_MAX)
        throw shippingRulesLimitReachedError({ details: { limit: SHIPPING_ZONES_PER_SHOP_MAX } })
      assertUnambiguous(areas, others)
      await tx.run(repository.insertShippingZone, { id: write.id, name: body.name, areas })
      invalidation.publish(tx)
    })
    return read(write.id)
  }

  /** @throws `SHIPPING_ZONE_NOT_FOUND`, `SHIPPING_ZONE_STALE`, and what `create` does */
  async function patch(
    id: string,
    body: UpdateShippingZoneRequest,
    write: IdempotentWrite
  ): Promise<ShippingZoneResponse> {
    const areas = body.areas && readAreas(body.areas)
    await write.once(db, async tx => {
      const { stored, others } = await lockOne(tx, id, write)
      if (isEmptyPatch(body)) return
      const { name = stored.name } = body
      if (areas !== undefined) assertUnambiguous(areas, others)
      await tx.run(repository.updateShippingZone, { id, name, areas: areas ?? stored.areas })
      invalidation.publish(tx)
    })
    return read(id)
  }

  /** Deletes a zone and its rates. @throws `SHIPPING_ZONE_NOT_FOUND`, `SHIPPING_ZONE_STALE` */
  async function remove(id: string, write: IdempotentWrite): Promise<void> {
    await write.once(db, async tx => {
      await lockOne(tx, id, write)
      await tx.run(repository.deleteShippingZone, { id })
      invalidation.publish(tx)
    })
  }

  return { list, read, create, patch, remove }
}
export type ShippingZoneService = ReturnType<typeof createShippingZoneService>

/** Locks all zones until `tx` ends, and returns them. */
async function lock(tx: Transaction): Promise<repository.ShippingZoneRow[]> {
  await tx.run(lockShippingRules)
  return tx.rows(repository.listShippingZones, { ...newestFirst.start, limit: SHIPPING_ZONES_PER_SHOP_MAX })
}

async function lockOne(tx: Transaction, id: string, write: IdempotentWrite) {
  const all = await lock(tx)
  const stored = found(
    all.find(zone => zone.id === id),
    shippingZoneNotFoundError
  )
  write.expect(stored.version, shippingZoneStaleError)
  return { stored, others: all.filter(zone => zone.id !== id) }
}

function readAreas(areas: readonly ShippingZoneAreaRequest[]): DeliveryArea[] {
  const errors: FieldFault[] = []
  const read = areas.flatMap(({ country, region = null, postal_code: postalCode = null }, index) => {
    const given = { country, region, postalCode }
    const area = normalizeDeliveryArea(given)
    if (area !== undefined) return [area]
    const { part, message } = deliveryAreaFault(given)
    errors.push({ path: `body/areas/${index}/${part === 'region' ? part : 'postal_code'}`, message })
    return []
  })
  if (errors.length > 0)
    throw shippingZoneAreasInvalidError({ details: { errors: errors.slice(0, FAULTS_SHOWN_MAX) } })
  return read
}

/** @throws `SHIPPING_ZONE_AMBIGUOUS` with the areas and the other zones. */
function assertUnambiguous(
  areas: readonly DeliveryArea[],
  others: readonly repository.ShippingZoneRow[]
): void {
  const errors = areas.flatMap((area, index) => {
    const other = others.find(zone => zone.areas.some(each => isAreaPrecedenceAmbiguous(area, each)))
    return other === undefined
      ? []
      : [{ path: `body/areas/${index}`, message: `is as specific as an area of the zone ${other.name}` }]
  })
  if (errors.length > 0)
    throw shippingZoneAreasAmbiguousError({ details: { errors: errors.slice(0, FAULTS_SHOWN_MAX) } })
}

const present = ({ areas, ...zone }: repository.ShippingZoneRow): ShippingZoneResponse => ({
  ...zone,
  areas: areas.map(({ country, region, postalCode }) => ({ country, region, postal_code: postalCode }))
})
