import { found } from '../../../kernel/errors.ts'
import type {
  IdempotentWrite,
  RunWithoutRequestSlot,
  WaitingRequest
} from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { CartApi } from '../../cart/index.ts'
import { type Buyer, clientNetworkOfBuyer, customerIdOfBuyer, waitingRequestOf } from '../buyers/buyer.ts'
import {
  checkoutCanceledError,
  checkoutChangedDuringOrderError,
  checkoutCompletedError,
  checkoutExpiredError,
  checkoutNotFoundError,
  checkoutStaleError
} from '../errors.ts'
import type { LimitPromotionCodeGuesses } from './code-guesses.ts'
import type { CheckoutFinding } from './findings.ts'
import { type CheckoutInput, checkoutInputWithChangedMetadata } from './input.ts'
import type { PlaceOrderInput } from './place-order.ts'
import type { PricedCheckout } from './price.ts'
import type { PriceCheckout } from './pricer.ts'
import type { ReadCheckoutInput } from './read-input.ts'
import * as repository from './repository.ts'
import type { CheckoutResponse } from './schema.ts'
import { deriveCheckoutToken, isValidCheckoutToken } from './tokens.ts'
import { checkoutView } from './view.ts'

type Deps = {
  db: Database
  secrets: Secrets
  readCheckoutInput: ReadCheckoutInput
  priceCheckout: PriceCheckout
  /** Absent: clients send items. */
  cart: Pick<CartApi, 'findStored'> | undefined
  /** Returns what checks of other modules find in an open checkout. */
  findCheckFindings: (
    customerId: string | null,
    input: CheckoutInput,
    priced: PricedCheckout,
    withoutSlot: RunWithoutRequestSlot
  ) => Promise<readonly CheckoutFinding[]>
  limitCodeGuesses: LimitPromotionCodeGuesses
  /** Seconds without a change after which a checkout expires. */
  expiresAfterSeconds: number
}
/** The id of the customer who owns the checkout. Null: a guest, whose token was verified. */
type Owner = string | null
/** A new checkout, and the token that gives a guest access to it. Null: the buyer needs no token. */
export type NewCheckoutWithToken = {
  readonly checkout: CheckoutResponse
  readonly checkoutToken: string | null
}

/**
 * Checkouts store the input of a buyer. Their price is calculated for each request, and they reserve no
 * stock.
 */
export function createCheckoutService({
  db,
  secrets,
  readCheckoutInput,
  priceCheckout,
  cart,
  findCheckFindings,
  limitCodeGuesses,
  expiresAfterSeconds
}: Deps) {
  /**
   * Returns the owner of a checkout that the buyer may reach. The token is verified before the database is read, so
   * that a wrong token reveals nothing. @throws `CHECKOUT_NOT_FOUND`
   */
  function ownerFor(buyer: Buyer, id: string): Owner {
    if (buyer.kind !== 'guest') return buyer.customerId
    if (!isValidCheckoutToken(secrets, buyer.token ?? '', id)) throw checkoutNotFoundError()
    return null
  }

  const findOwned = async (owner: Owner, id: string) =>
    found(await db.first(repository.findCheckoutOfBuyer, { id, customer_id: owner }), checkoutNotFoundError)

  async function readOwned(owner: Owner, id: string, request: WaitingRequest): Promise<CheckoutResponse> {
    const row = await findOwned(owner, id)
    const [priced, isCartChanged] = await Promise.all([
      priceCheckout(db, owner, row.input, { request }),
      hasCartChanged(row)
    ])
    return viewWithChecks(row, priced, isCartChanged, request)
  }

  /** The response, with what the checks of other modules find while the checkout is open. */
  async function viewWithChecks(
    row: repository.CheckoutRow,
    priced: PricedCheckout,
    isCartChanged: boolean,
    { withoutSlot }: WaitingRequest
  ): Promise<CheckoutResponse> {
    const isOpen = row.status === 'open' && row.order_id === null && !row.is_expired
    const found = isOpen ? await findCheckFindings(row.customer_id, row.input, priced, withoutSlot) : []
    return checkoutView(row, { ...priced, findings: [...priced.findings, ...found] }, isCartChanged)
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
  async function priceInput(
    owner: Owner,
    request: PlaceOrderInput,
    waiting: WaitingRequest,
    stored?: CheckoutInput
  ) {
    const { input, source } = await readCheckoutInput(owner, request, stored)
    const priced = await priceCheckout(db, owner, input, { request: waiting })
    return {
      priced,
      columns: { input, quote_hash: priced.quote.hash, ...source, seconds: expiresAfterSeconds }
    }
  }

  async function create(
    buyer: Buyer,
    request: PlaceOrderInput,
    write: IdempotentWrite
  ): Promise<CheckoutResponse> {
    const { id } = write
    const [owner, waiting] = [customerIdOfBuyer(buyer), waitingRequestOf(buyer, write)]
    // A retry reads the stored checkout, because the cart may have changed since the earlier attempt.
    if (write.alreadyApplied) return readOwned(owner, id, waiting)
    const { priced, columns } = await priceInput(owner, request, waiting)
    const row = await write.once(db, tx =>
      tx.first(repository.insertCheckout, { id, customer_id: owner, ...columns })
    )
    return row === undefined ? readOwned(owner, id, waiting) : viewWithChecks(row, priced, false, waiting)
  }

  async function replace(
    buyer: Buyer,
    id: string,
    request: PlaceOrderInput,
    write: IdempotentWrite
  ): Promise<CheckoutResponse> {
    const [owner, waiting] = [ownerFor(buyer, id), waitingRequestOf(buyer, write)]
    if (write.alreadyApplied) return readOwned(owner, id, waiting)
    const present = await findOwned(owner, id)
    assertCheckoutOpen(present)
    const { priced, columns } = await priceInput(owner, request, waiting, present.input)
    const row = await write.once(db, async tx => {
      const update = async (from: repository.CheckoutRow) => {
        write.expect(from.version, checkoutStaleError)
        assertCheckoutOpen(from)
        const input = checkoutInputWithChangedMetadata(columns.input, from.input.metadata, request.metadata)
        return tx.first(repository.updateOpenCheckout, {
          id,
          customer_id: owner,
          version: from.version,
          ...columns,
          input
        })
      }
      // Without a row another request has changed the checkout since it was read.
      return (await update(present)) ?? update(await lockCheckout(tx, owner, id, write))
    })
    return row === undefined ? readOwned(owner, id, waiting) : viewWithChecks(row, priced, false, waiting)
  }

  return {
    /** @throws `CHECKOUT_NOT_FOUND` when the token of a guest is not that of the checkout */
    assertAccess: (buyer: Buyer, id: string): void => void ownerFor(buyer, id),
    /** Finds a checkout that the buyer may reach. @throws `CHECKOUT_NOT_FOUND` */
    find: async (buyer: Buyer, id: string) => findOwned(ownerFor(buyer, id), id),
    /** See `CheckoutCommands.read`. */
    read: async (
      buyer: Buyer,
      id: string,
      request: Pick<WaitingRequest, 'withoutSlot'>
    ): Promise<CheckoutResponse> => readOwned(ownerFor(buyer, id), id, waitingRequestOf(buyer, request)),
    /** See `CheckoutCommands.begin`. */
    begin: async (
      buyer: Buyer,
      request: PlaceOrderInput,
      write: IdempotentWrite
    ): Promise<NewCheckoutWithToken> => {
      const checkout = await limitCodeGuesses(clientNetworkOfBuyer(buyer), request, () =>
        create(buyer, request, write)
      )
      return {
        checkout,
        checkoutToken: buyer.kind === 'guest' ? deriveCheckoutToken(secrets, checkout.id) : null
      }
    },
    /** See `CheckoutCommands.update`. */
    update: async (buyer: Buyer, id: string, request: PlaceOrderInput, write: IdempotentWrite) =>
      limitCodeGuesses(clientNetworkOfBuyer(buyer), request, async () => replace(buyer, id, request, write)),
    /** See `CheckoutCommands.cancel`. */
    cancel: async (buyer: Buyer, id: string, write: IdempotentWrite): Promise<CheckoutResponse> => {
      const owner = ownerFor(buyer, id)
      await write.once(db, async tx => {
        const row = await lockCheckout(tx, owner, id, write)
        if (row.status === 'canceled') return
        assertCheckoutOpen(row)
        await tx.run(repository.cancelCheckout, { id })
      })
      return readOwned(owner, id, waitingRequestOf(buyer, write))
    }
  }
}
export type CheckoutService = ReturnType<typeof createCheckoutService>

const findLocked = async (tx: Transaction, owner: Owner, id: string) =>
  found(await tx.first(repository.findCheckoutOfBuyer, { id, customer_id: owner }), checkoutNotFoundError)

/** Locks the checkout until `tx` ends. @throws `CHECKOUT_NOT_FOUND`, `CHECKOUT_STALE` */
async function lockCheckout(tx: Transaction, owner: Owner, id: string, write: IdempotentWrite) {
  // A second statement reads the row, because a statement that waited for the lock does not see an order that
  // was inserted meanwhile.
  const [, row] = await Promise.all([
    tx.run(repository.lockCheckoutRow, { id, customer_id: owner }),
    findLocked(tx, owner, id)
  ])
  write.expect(row.version, checkoutStaleError)
  return row
}

/**
 * Completes the checkout in the transaction that inserts its order, and locks it until then. @throws
 * `CHECKOUT_STALE`, `CHECKOUT_CHANGED`
 */
export async function completeCheckout(
  tx: Transaction,
  owner: Owner,
  { id, version }: Pick<repository.CheckoutRow, 'id' | 'version'>,
  write: IdempotentWrite
): Promise<void> {
  write.expect(version, checkoutStaleError)
  const completed = await tx.first(repository.raiseVersionOfCompletedCheckout, {
    id,
    version,
    customer_id: owner
  })
  if (completed === undefined) throw checkoutChangedDuringOrderError()
}

/** @throws `CHECKOUT_COMPLETED`, `CHECKOUT_EXPIRED`, `CHECKOUT_CANCELED` */
export function assertCheckoutOpen({ status, is_expired, order_id }: repository.CheckoutRow): void {
  if (order_id !== null) throw checkoutCompletedError({ details: { order_id } })
  if (status === 'canceled') throw checkoutCanceledError()
  if (is_expired) throw checkoutExpiredError()
}
