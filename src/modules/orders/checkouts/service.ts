import { found } from '../../../kernel/errors.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { CartApi } from '../../cart/index.ts'
import {
  checkoutCanceled,
  checkoutCompleted,
  checkoutExpired,
  checkoutNotFound,
  checkoutStale
} from '../errors.ts'
import type { Intake, Said } from './intake.ts'
import type { PriceNow } from './pricer.ts'
import * as repository from './repository.ts'
import type { CheckoutResponse } from './schema.ts'
import { viewOf } from './view.ts'

type Deps = {
  db: Database
  intake: Intake
  priceNow: PriceNow
  /** Absent: who buys sends items. */
  cart: Pick<CartApi, 'stored'> | undefined
  /** After so long without a change a checkout expires. */
  seconds: number
}
/** Whose a checkout is: the id of a customer, or null for a guest who has proved it by its token. */
export type Owner = string | null

/** Checkouts: what a client says is kept, and what it costs is computed whenever it is asked for. They hold no stock. */
export function createCheckoutService({ db, intake, priceNow, cart, seconds }: Deps) {
  /** @throws `CHECKOUT_NOT_FOUND` */
  const find = async (owner: Owner, id: string) =>
    found(await db.first(repository.findCheckout, { id, customer_id: owner }), checkoutNotFound)

  /** @throws `CHECKOUT_NOT_FOUND` */
  async function read(owner: Owner, id: string): Promise<CheckoutResponse> {
    const row = await find(owner, id)
    const [priced, isCartChanged] = await Promise.all([priceNow(db, owner, row.input), hasCartChanged(row)])
    return viewOf(row, priced, isCartChanged)
  }

  async function hasCartChanged({
    cart_id,
    cart_version,
    order_id
  }: repository.CheckoutRow): Promise<boolean> {
    if (cart === undefined || cart_id === null || order_id !== null) return false
    return (await cart.stored(cart_id)).version !== cart_version
  }

  /** What is kept of what a client says, and what it costs. */
  async function prepare(owner: Owner, said: Said) {
    const { input, source } = await intake(owner, said)
    const priced = await priceNow(db, owner, input)
    return { priced, kept: { input, quote_hash: priced.quote.hash, ...source, seconds } }
  }

  /**
   * @throws `CHECKOUT_SOURCE_UNCLEAR`, `CHECKOUT_CARTS_OFF`, `CART_EMPTY`, `CART_GUEST_NOT_FOUND`,
   * `PRICING_MARKET_UNKNOWN`, `PRICING_QUOTE_TOO_LARGE`
   */
  async function create(owner: Owner, said: Said, write: Write): Promise<CheckoutResponse> {
    const { id } = write
    // The cart of an earlier try may be another one by now.
    if (write.alreadyApplied) return read(owner, id)
    const { priced, kept } = await prepare(owner, said)
    const row = await write.once(db, tx =>
      tx.first(repository.insertCheckout, { id, customer_id: owner, ...kept })
    )
    return row === undefined ? read(owner, id) : viewOf(row, priced, false)
  }

  /**
   * Puts what the client says in the place of all that they said before.
   * @throws `CHECKOUT_NOT_FOUND`, `CHECKOUT_STALE`, `CHECKOUT_EXPIRED`, `CHECKOUT_CANCELED`, and as `create`
   */
  async function replace(owner: Owner, id: string, said: Said, write: Write): Promise<CheckoutResponse> {
    if (write.alreadyApplied) return read(owner, id)
    refuseUnlessOpen(await find(owner, id))
    const { priced, kept } = await prepare(owner, said)
    const row = await write.once(db, async tx => {
      refuseUnlessOpen(await lock(tx, owner, id, write))
      return tx.first(repository.updateCheckout, { id, ...kept })
    })
    return row === undefined ? read(owner, id) : viewOf(row, priced, false)
  }

  /** One that is canceled stays so. @throws `CHECKOUT_NOT_FOUND`, `CHECKOUT_STALE`, `CHECKOUT_EXPIRED` */
  async function cancel(owner: Owner, id: string, write: Write): Promise<CheckoutResponse> {
    await write.once(db, async tx => {
      const row = await lock(tx, owner, id, write)
      if (row.status === 'canceled') return
      refuseUnlessOpen(row)
      await tx.run(repository.cancelCheckout, { id })
    })
    return read(owner, id)
  }

  return { find, read, create, replace, cancel }
}
export type CheckoutService = ReturnType<typeof createCheckoutService>

/** Holds it until `tx` ends. @throws `CHECKOUT_NOT_FOUND`, `CHECKOUT_STALE` */
export async function lock(tx: Transaction, owner: Owner, id: string, write: Write) {
  // A statement that waited for the lock sees what was there before: not the order that was made meanwhile. The next one does.
  const [, read] = await Promise.all([
    tx.run(repository.lockCheckout, { id, customer_id: owner }),
    tx.first(repository.findCheckout, { id, customer_id: owner })
  ])
  const row = found(read, checkoutNotFound)
  write.expect(row.version, checkoutStale)
  return row
}

/** @throws `CHECKOUT_COMPLETED`, `CHECKOUT_EXPIRED`, `CHECKOUT_CANCELED` */
export function refuseUnlessOpen({ status, is_expired, order_id }: repository.CheckoutRow): void {
  if (order_id !== null) throw checkoutCompleted({ details: { order_id } })
  if (status === 'canceled') throw checkoutCanceled()
  if (is_expired) throw checkoutExpired()
}
