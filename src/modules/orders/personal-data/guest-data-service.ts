import { found } from '../../../kernel/errors.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { GuestIdentity, PersonalDataHandler } from '../../../platform/personal-data.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { guestSelectionAmbiguousError, orderBelongsToAccountError, orderNotFoundError } from '../errors.ts'
import { orderErasedEvent } from '../events.ts'
import * as repository from './guest-data-repository.ts'
import type {
  GuestDataErasedResponse,
  GuestDataExportResponse,
  GuestDataRequest
} from './guest-data-schema.ts'

/** Maximum number of orders that one transaction of the retention job erases. */
const ORDERS_PER_TRANSACTION = 50
const DAY_MS = 86_400_000

type Deps = {
  db: Database
  emit: Emit
  /** How each module exports and erases its personal data, by module name. */
  personalData: () => ReadonlyMap<string, PersonalDataHandler>
  /** Locks orders and returns the ids of the ones that still belong to guests. */
  lock: (tx: Transaction, ids: readonly string[]) => Promise<string[]>
  /** Days after which personal data of completed or canceled orders is erased; 0: never. */
  retentionDays: number
}

/** Exports and erases the personal data of guests. Amounts and taxes of orders stay. */
export function createGuestDataService({ db, emit, personalData, lock, retentionDays }: Deps) {
  const ordersOf = (email: string) => db.rows(repository.listGuestOrdersOfEmail, { email: email.trim() })

  /** @throws `ORDER_GUEST_DATA_UNCLEAR`, `ORDER_NOT_FOUND`, `ORDER_HAS_ACCOUNT` */
  async function select({ order_id: id, email }: GuestDataRequest): Promise<repository.GuestOrderRow[]> {
    if ((id === undefined) === (email === undefined)) throw guestSelectionAmbiguousError()
    if (email !== undefined) return ordersOf(email)
    const order = found(await db.first(repository.findUnerasedOrder, { id: id ?? '' }), orderNotFoundError)
    if (order.customer_id !== null) throw orderBelongsToAccountError()
    return [order]
  }

  /** Erases these orders, except those that a customer has claimed meanwhile. */
  async function eraseOrders(tx: Transaction, rows: readonly repository.GuestOrderRow[], isWhole: boolean) {
    const ids = await lock(
      tx,
      rows.map(({ id }) => id)
    )
    const locked = rows.filter(({ id }) => ids.includes(id))
    if (locked.length === 0) return []
    const guest = guestOf(locked, isWhole)
    for (const each of personalData().values()) await each.guests?.erase(tx, guest)
    const versions = await tx.rows(repository.listOrderVersions, { ids })
    const versionOf = new Map(versions.map(({ id, version }) => [id, version]))
    for (const { id, number } of locked)
      emit(tx, orderErasedEvent, { id, version: versionOf.get(id) ?? null }, { order_id: id, number })
    return locked
  }

  /**
   * Erases the personal data of the selected guest orders. `before` runs first, in the same transaction.
   * @throws `ORDER_STILL_OPEN`, and the errors of `select`
   */
  async function erase(
    selector: GuestDataRequest,
    write: IdempotentWrite,
    before: (tx: Transaction) => Promise<void> = async () => {}
  ): Promise<GuestDataErasedResponse> {
    // An earlier attempt has erased the orders, so they cannot be selected again.
    if (write.alreadyApplied) return { orders: [] }
    const rows = await select(selector)
    const erased = await write.once(db, async tx => {
      await before(tx)
      return eraseOrders(tx, rows, selector.email !== undefined)
    })
    return { orders: (erased ?? []).map(({ id, number }) => ({ id, number })) }
  }

  return {
    ordersOf,
    erase,
    /** @throws as `select` */
    async export(selector: GuestDataRequest): Promise<GuestDataExportResponse> {
      const rows = await select(selector)
      const guest = guestOf(rows, selector.email !== undefined)
      const parts: Record<string, unknown> = {}
      for (const [module, each] of personalData())
        if (each.guests !== undefined) parts[module] = await each.guests.export(guest)
      return { exported_at: new Date(), orders: rows.map(({ id, number }) => ({ id, number })), parts }
    },
    /** Erases data that is older than the retention time, a few orders per transaction. */
    async eraseOld(signal: AbortSignal): Promise<void> {
      if (retentionDays === 0) return
      const before = new Date(Date.now() - retentionDays * DAY_MS)
      for (;;) {
        signal.throwIfAborted()
        const rows = await db.rows(repository.listOldGuestOrders, { before, limit: ORDERS_PER_TRANSACTION })
        if (rows.length === 0) return
        await db.transaction(tx => eraseOrders(tx, rows, false))
      }
    }
  }
}
export type GuestDataService = ReturnType<typeof createGuestDataService>

/** `isWhole`: the selected orders are all orders of the guest. */
const guestOf = (rows: readonly repository.GuestOrderRow[], isWhole: boolean): GuestIdentity => ({
  orderIds: rows.map(({ id }) => id),
  emails: [...new Set(rows.flatMap(({ email }) => email ?? []))],
  buyers: isWhole ? [...new Set(rows.map(({ buyer }) => buyer))] : []
})
