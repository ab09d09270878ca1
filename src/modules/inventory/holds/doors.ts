import { newId } from '../../../kernel/ids.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import { claimLost, inventoryBusy, inventoryShort, ownerTaken, shortageOf } from '../errors.ts'
import { type Posted, postRequests } from '../requests/requests.ts'
import { type Kits, sumParts } from '../writer/kits.ts'
import type { Writer } from '../writer/writer.ts'
import * as repository from './repository.ts'

export type StockLine = { readonly variantId: string; readonly quantity: number }
export type OrderRequest = { readonly id: string; readonly owner: string } & (
  | {
      readonly kind: 'release' | 'ship' | 'return'
      /** All that is left of it, when they are left out of a release. */
      readonly lines?: readonly StockLine[]
      readonly locationId?: string
    }
  /** `shipment`: the id of the request that shipped what never left. */
  | { readonly kind: 'unship'; readonly shipment: string }
)

const WAIT_MS = 5_000

/** How others hold stock: nothing of it waits for the writer inside of a transaction. */
export function createDoors({ writer, kits }: { writer: Writer; kits: Kits }) {
  async function reserve(
    owner: string,
    lines: readonly StockLine[],
    seconds: number,
    { deadlineAt = performance.now() + WAIT_MS }: { deadlineAt?: number } = {}
  ): Promise<void> {
    const needs = await kits.expand(lines)
    const outcome = await writer.push({ kind: 'reserve', id: newId(), owner, needs, seconds }, deadlineAt)
    if (outcome.kind === 'taken') throw ownerTaken()
    if (outcome.kind !== 'short') return
    throw inventoryShort({ details: { items: outcome.lines.map(shortageOf) } })
  }

  async function release(owner: string): Promise<void> {
    const drop = { kind: 'drop', id: newId(), owner, itemIds: [] } as const
    try {
      await writer.push(drop, performance.now() + WAIT_MS)
    } catch (error) {
      // What nobody gives back is given back when its time is over.
      if ((error as { code?: string }).code !== inventoryBusy.code) throw error
    }
  }

  async function claim(tx: Transaction, owner: string, lines: readonly StockLine[]): Promise<void> {
    const wanted = sumParts(await kits.expand(lines))
    const claimed = new Map<string, number>()
    for (const row of await tx.rows(repository.claimReservations, { owner }))
      claimed.set(row.item_id, (claimed.get(row.item_id) ?? 0) + row.quantity)
    const missing = wanted.filter(part => claimed.get(part.itemId) !== part.quantity)
    const isMore = [...claimed.keys()].some(itemId => !wanted.some(part => part.itemId === itemId))
    if (isMore || (missing.length > 0 && (await areCounted(tx, missing, claimed)))) throw claimLost()
  }

  /** Of what is not tracked, nothing is held. */
  async function areCounted(
    db: Queryable,
    missing: readonly { itemId: string }[],
    claimed: ReadonlyMap<string, number>
  ): Promise<boolean> {
    const itemIds = missing.map(({ itemId }) => itemId)
    if (itemIds.some(itemId => claimed.has(itemId))) return true
    return (await db.rows(repository.listTracked, { itemIds })).length > 0
  }

  async function confirm(tx: Transaction, owner: string): Promise<void> {
    await tx.run(repository.confirmReservations, { owner })
  }

  /** Writes requests into this transaction; the writer does them once it is committed. Answers those that are new. */
  async function postAll(tx: Transaction, posted: readonly Posted[]): Promise<ReadonlySet<string>> {
    tx.afterCommit(writer.wake)
    return postRequests(tx, posted)
  }

  async function post(tx: Transaction, request: OrderRequest): Promise<void> {
    if (request.kind === 'unship') {
      await postAll(tx, [request])
      return
    }
    const { id, kind, owner, lines, locationId } = request
    const parts = lines === undefined ? null : sumParts(await kits.expand(lines))
    await postAll(tx, [{ kind, id, owner, parts, locationId: locationId ?? null }])
  }

  return { reserve, release, claim, confirm, post, postAll }
}
