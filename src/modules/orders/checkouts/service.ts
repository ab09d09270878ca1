import { found } from '../../../kernel/errors.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { CartApi } from '../../cart/index.ts'
import {
  checkoutCanceled,
  checkoutCompleted,
  checkoutExpired,
  checkoutNotFound,
  checkoutStale
} from '../errors.ts'
import type { PriceCheckout } from './pricer.ts'
import type { CheckoutRequestInput, ReadCheckoutInput } from './read-input.ts'
import * as repository from './repository.ts'
import type { CheckoutResponse } from './schema.ts'
import { checkoutView } from './view.ts'

type Deps = {
  db: Database
  readCheckoutInput: ReadCheckoutInput
  priceCheckout: PriceCheckout
  /** Absent: clients send items. */
  cart: Pick<CartApi, 'findStored'> | undefined
  /** Seconds without a change after which a checkout expires. */
  expiresAfterSeconds: number
}
/** The owner of a checkout or an order: a customer's id. Null: a guest, whose token was verified. */
export type CheckoutOwner = string | null

/**
 * Checkouts store the input of a buyer. Their price is calculated for each request, and they reserve no
 * stock.
 */
export function createCheckoutService({
  db,
  readCheckoutInput,
  priceCheckout,
  cart,
  expiresAfterSeconds
}: Deps) {
  /** @throws `CHECKOUT_NOT_FOUND` */
  const find = async (owner: CheckoutOwner, id: string) =>
    found(await db.first(repository.findCheckout, { id, customer_id: owner }), checkoutNotFound)

  /** @throws `CHECKOUT_NOT_FOUND` */
  async function read(owner: CheckoutOwner, id: string): Promise<CheckoutResponse> {
    const row = await find(owner, id)
    const [priced, isCartChanged] = await Promise.all([
      priceCheckout(db, owner, row.input),
      hasCartChanged(row)
    ])
    return checkoutView(row, priced, isCartChanged)
  }

  async function hasCartChanged({
    cart_id,
    cart_version,
    order_id
  }: repository.CheckoutRow): Promise<boolean> {
    if (cart === undefined || cart_id === null || order_id !== null) return false
    return (await cart.findStored(cart_id)).version !== cart_version
  }

  /** Turns the request into the row to store, and calculates its price. */
  async function priceInput(owner: CheckoutOwner, requested: CheckoutRequestInput) {
    const { input, source } = await readCheckoutInput(owner, requested)
    const priced = await priceCheckout(db, owner, input)
    return {
      priced,
      columns: { input, quote_hash: priced.quote.hash, ...source, seconds: expiresAfterSeconds }
    }
  }

  /**
   * @throws `CHECKOUT_SOURCE_UNCLEAR`, `CHECKOUT_CARTS_OFF`, `CART_EMPTY`, `CART_GUEST_NOT_FOUND`,
   * `PRICING_MARKET_UNKNOWN`, `PRICING_QUOTE_TOO_LARGE`
   */
  async function create(
    owner: CheckoutOwner,
    requested: CheckoutRequestInput,
    write: IdempotentWrite
  ): Promise<CheckoutResponse> {
    const { id } = write
    // The cart may have changed since an earlier attempt.
    if (write.alreadyApplied) return read(owner, id)
    const { priced, columns } = await priceInput(owner, requested)
    const row = await write.once(db, tx =>
      tx.first(repository.insertCheckout, { id, customer_id: owner, ...columns })
    )
    return row === undefined ? read(owner, id) : checkoutView(row, priced, false)
  }

  /**
   * Replaces the whole input.
   * @throws `CHECKOUT_NOT_FOUND`, `CHECKOUT_STALE`, `CHECKOUT_EXPIRED`, `CHECKOUT_CANCELED`, and as `create`
   */
  async function replace(
    owner: CheckoutOwner,
    id: string,
    requested: CheckoutRequestInput,
    write: IdempotentWrite
  ): Promise<CheckoutResponse> {
    if (write.alreadyApplied) return read(owner, id)
    assertCheckoutOpen(await find(owner, id))
    const { priced, columns } = await priceInput(owner, requested)
    const row = await write.once(db, async tx => {
      assertCheckoutOpen(await lockCheckout(tx, owner, id, write))
      return tx.first(repository.updateCheckout, { id, ...columns })
    })
    return row === undefined ? read(owner, id) : checkoutView(row, priced, false)
  }

  /**
   * Does nothing when the checkout is canceled already. @throws `CHECKOUT_NOT_FOUND`, `CHECKOUT_STALE`,
   * `CHECKOUT_EXPIRED`
   */
  async function cancel(owner: CheckoutOwner, id: string, write: IdempotentWrite): Promise<CheckoutResponse> {
    await write.once(db, async tx => {
      const row = await lockCheckout(tx, owner, id, write)
      if (row.status === 'canceled') return
      assertCheckoutOpen(row)
      await tx.run(repository.cancelCheckout, { id })
    })
    return read(owner, id)
  }

  return { find, read, create, replace, cancel }
}
export type CheckoutService = ReturnType<typeof createCheckoutService>

/** Locks the checkout until `tx` ends. @throws `CHECKOUT_NOT_FOUND`, `CHECKOUT_STALE` */
export async function lockCheckout(
  tx: Transaction,
  owner: CheckoutOwner,
  id: string,
  write: IdempotentWrite
) {
  // The row is read by a second statement: one that waited for the lock does not see an order that was
  // inserted meanwhile.
  const [, stored] = await Promise.all([
    tx.run(repository.lockCheckoutRow, { id, customer_id: owner }),
    tx.first(repository.findCheckout, { id, customer_id: owner })
  ])
  const row = found(stored, checkoutNotFound)
  write.expect(row.version, checkoutStale)
  return row
}

/** @throws `CHECKOUT_COMPLETED`, `CHECKOUT_EXPIRED`, `CHECKOUT_CANCELED` */
export function assertCheckoutOpen({ status, is_expired, order_id }: repository.CheckoutRow): void {
  if (order_id !== null) throw checkoutCompleted({ details: { order_id } })
  if (status === 'canceled') throw checkoutCanceled()
  if (is_expired) throw checkoutExpired()
}
