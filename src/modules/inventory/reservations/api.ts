import { newId } from '../../../kernel/ids.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import { readAvailableQuantities } from '../availability/service.ts'
import type { InventoryItemQuantity, TakeContestedStockOperation } from '../decisions/state.ts'
import {
  describeStockShortage,
  insufficientStockForLinesError,
  orderClaimedOtherLinesError,
  stockClaimLostError,
  stockWriterBusyError
} from '../errors.ts'
import { type KitComponentCache, sumKitLineUnitsByItem } from '../writer/kit-components.ts'
import { contestedStockUnitColumns } from '../writer/record-contested.ts'
import {
  addContestedStockUnits,
  deleteContestedStockUnitsOfOrders,
  reduceContestedUnitsOfOwners
} from '../writer/repository.ts'
import { enqueueStockRequests, type StockRequestOperation } from '../writer/requests.ts'
import { listStockRequestOutcomes } from '../writer/requests-repository.ts'
import type { StockWriter } from '../writer/writer.ts'
import * as repository from './repository.ts'

export type StockRequestLine = { readonly variantId: string; readonly quantity: number }
/** A paid order takes `parts`: free units first, then units of the victims in their order. */
export type TakeContestedStockRequest = Omit<TakeContestedStockOperation, 'kind'>
export type UnpaidOrderStockClaim = {
  readonly owner: string
  readonly itemId: string
  readonly quantity: number
}
type ReserveOptions = { readonly deadlineAt?: number; readonly contest?: ReadonlyMap<string, number> }

export type OrderStockRequest = { readonly id: string; readonly owner: string } & (
  | {
      readonly kind: 'release' | 'ship' | 'return'
      /** The units of the request. Omitted in a release: all remaining units. */
      readonly lines?: readonly StockRequestLine[]
      readonly locationId?: string
    }
  /** `shipment`: the id of the ship request to undo. */
  | { readonly kind: 'unship'; readonly shipment: string }
)

const WAIT_MS = 5_000
/** Maximum number of claims that are read to find units to take. */
const CLAIMANTS_MAX = 5_000

/** Reservation operations of orders. None of them waits for the writer inside a transaction. */
export function createStockReservationApi({
  writer,
  kits
}: {
  writer: StockWriter
  kits: KitComponentCache
}) {
  async function reserve(
    owner: string,
    lines: readonly StockRequestLine[],
    seconds: number,
    { deadlineAt = performance.now() + WAIT_MS, ...contest }: ReserveOptions = {}
  ): Promise<readonly InventoryItemQuantity[]> {
    const needs = await kits.expand(lines)
    const reserve = { kind: 'reserve', id: newId(), owner, needs, seconds, ...contest } as const
    const outcome = await writer.push(reserve, deadlineAt)
    if (outcome.kind === 'taken') throw orderClaimedOtherLinesError()
    if (outcome.kind === 'short')
      throw insufficientStockForLinesError({ details: { items: outcome.lines.map(describeStockShortage) } })
    return outcome.kind === 'reserved' ? outcome.contested : []
  }

  async function release(owner: string): Promise<void> {
    const drop = { kind: 'drop', id: newId(), owner, itemIds: [] } as const
    try {
      await writer.push(drop, performance.now() + WAIT_MS)
    } catch (error) {
      // The reservation expires anyway.
      if ((error as { code?: string }).code !== stockWriterBusyError.code) throw error
    }
  }

  async function claim(
    tx: Transaction,
    owner: string,
    lines: readonly StockRequestLine[],
    contested: readonly InventoryItemQuantity[] = []
  ): Promise<void> {
    const wanted = sumKitLineUnitsByItem(await kits.expand(lines))
    const claimed = new Map(contested.map(({ itemId, quantity }) => [itemId, quantity]))
    if (contested.length > 0) await contest(tx, owner, contested)
    for (const row of await tx.rows(repository.claimHeldReservationsOfOwners, { owner }))
      claimed.set(row.item_id, (claimed.get(row.item_id) ?? 0) + row.quantity)
    const missing = wanted.filter(part => claimed.get(part.itemId) !== part.quantity)
    const isMore = [...claimed.keys()].some(itemId => !wanted.some(part => part.itemId === itemId))
    if (isMore || (missing.length > 0 && (await areCounted(tx, missing, claimed))))
      throw stockClaimLostError()
  }

  /** Returns whether a missing part is tracked. Untracked items are never reserved. */
  async function areCounted(
    db: Queryable,
    missing: readonly { itemId: string }[],
    claimed: ReadonlyMap<string, number>
  ): Promise<boolean> {
    const itemIds = missing.map(({ itemId }) => itemId)
    if (itemIds.some(itemId => claimed.has(itemId))) return true
    return (await db.rows(repository.listTrackedItemIds, { itemIds })).length > 0
  }

  const contest = (tx: Transaction, owner: string, parts: readonly InventoryItemQuantity[]) =>
    tx.run(addContestedStockUnits, contestedStockUnitColumns(parts.map(part => ({ owner, ...part }))))

  /**
   * Reads contested units in a second statement, after the reservations are locked, so units that the
   * writer took before are seen.
   */
  async function confirm(tx: Transaction, owner: string): Promise<readonly InventoryItemQuantity[]> {
    const [, parts] = await Promise.all([
      tx.run(repository.confirmClaimedStockReservations, { owner }),
      contested(tx, owner)
    ])
    return parts
  }

  async function contested(db: Queryable, owner: string): Promise<readonly InventoryItemQuantity[]> {
    const rows = await db.rows(repository.listContestedStockUnitsOfOwner, { owner })
    return rows.map(({ item_id: itemId, quantity }) => ({ itemId, quantity }))
  }

  async function rejectShort(db: Queryable, lines: readonly StockRequestLine[]): Promise<never> {
    const available = await readAvailableQuantities(
      db,
      lines.map(({ variantId }) => variantId)
    )
    const items = lines.flatMap(({ variantId, quantity: requested }, index) => {
      const units = available[index] ?? requested
      return units < requested
        ? [describeStockShortage({ variantId, requested, available: Math.max(0, units) })]
        : []
    })
    throw insufficientStockForLinesError({ details: { items } })
  }

  async function assertNotContested(db: Queryable, owner: string): Promise<void> {
    const parts = await contested(db, owner)
    if (parts.length === 0) return
    const items = parts.map(({ itemId: variantId, quantity: requested }) =>
      describeStockShortage({ variantId, requested, available: 0 })
    )
    throw insufficientStockForLinesError({ details: { items } })
  }

  async function claimants(db: Queryable, variantIds: readonly string[]): Promise<UnpaidOrderStockClaim[]> {
    const needs = await kits.expand(variantIds.map(variantId => ({ variantId, quantity: 1 })))
    const itemIds = sumKitLineUnitsByItem(needs).map(({ itemId }) => itemId)
    const rows = await db.rows(repository.listUnpaidStockClaims, { itemIds, limit: CLAIMANTS_MAX })
    return rows.map(({ owner, item_id: itemId, quantity }) => ({ owner, itemId, quantity }))
  }

  async function forgo(
    tx: Transaction,
    owner: string,
    parts: readonly InventoryItemQuantity[]
  ): Promise<InventoryItemQuantity[]> {
    const rows = await tx.rows(
      reduceContestedUnitsOfOwners,
      contestedStockUnitColumns(parts.map(part => ({ owner, ...part })))
    )
    const gone = new Map(rows.map(({ item_id, quantity }) => [item_id, quantity]))
    return parts.flatMap(({ itemId, quantity }) => {
      const rest = quantity - (gone.get(itemId) ?? 0)
      return rest > 0 ? [{ itemId, quantity: rest }] : []
    })
  }

  const take = async (tx: Transaction, request: TakeContestedStockRequest): Promise<void> => {
    await postAll(tx, [{ kind: 'take', ...request }])
  }

  const countFinishedTakes = async (db: Queryable, ids: readonly string[]): Promise<number> =>
    (await db.rows(listStockRequestOutcomes, { ids })).length

  /**
   * Posts requests in this transaction; the writer applies them after commit. Returns the ids of new
   * requests.
   */
  async function postAll(
    tx: Transaction,
    posted: readonly StockRequestOperation[]
  ): Promise<ReadonlySet<string>> {
    tx.afterCommit(writer.wake)
    return enqueueStockRequests(tx, posted)
  }

  async function post(tx: Transaction, request: OrderStockRequest): Promise<void> {
    if (request.kind === 'unship') {
      await postAll(tx, [request])
      return
    }
    const { id, kind, owner, lines, locationId } = request
    // A full release also gives up all contested units.
    if (kind === 'release' && lines === undefined)
      await tx.run(deleteContestedStockUnitsOfOrders, { owners: [owner] })
    const asked = lines === undefined ? null : sumKitLineUnitsByItem(await kits.expand(lines))
    // Contested units are given up before reserved units are released.
    const parts = kind === 'release' && asked !== null ? await forgo(tx, owner, asked) : asked
    await postAll(tx, [{ kind, id, owner, parts, locationId: locationId ?? null }])
  }

  return {
    reserve,
    release,
    claim,
    confirm,
    rejectShort,
    assertNotContested,
    forgo,
    claimants,
    take,
    countFinishedTakes,
    post,
    postAll
  }
}
