import { DomainError } from '../../../kernel/errors.ts'
import { inOrder } from '../../../kernel/in-order.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { CartApi } from '../../cart/index.ts'
import type { InventoryApi, StockPart } from '../../inventory/index.ts'
import type { PaymentsApi } from '../../payments/index.ts'
import type { PricingApi } from '../../pricing/index.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import type { Changes } from '../changes/service.ts'
import { type CheckoutInput, emailOf } from '../checkouts/input.ts'
import type { Source } from '../checkouts/intake.ts'
import type { Line } from '../checkouts/lines.ts'
import type { Priced } from '../checkouts/price.ts'
import type { PriceNow } from '../checkouts/pricer.ts'
import { remarksOn } from '../checkouts/remarks.ts'
import type { CheckoutRow } from '../checkouts/repository.ts'
import { lock, refuseUnlessOpen } from '../checkouts/service.ts'
import { checkoutChanged, tooManyPending } from '../errors.ts'
import { orderCreated, orderPlaced } from '../events.ts'
import type { Evictions } from '../evictions/service.ts'
import type { Fulfilment } from '../fulfilment/service.ts'
import { findOrderOfCart, findOrderOfCheckout, type OrderRow } from '../orders/repository.ts'
import type { UnpaidStock } from '../unpaid-stock/service.ts'
import { type Buyer, type BuyerOf, networkOf } from './buyers.ts'
import { carriedIn, type Draft, draftOf } from './draft.ts'
import { holding } from './hold.ts'
import { insertedOrder } from './inserted.ts'
import { type Agreement, refusalOf, withoutHistory } from './refusals.ts'
import * as repository from './repository.ts'
import { type Choice, isDeferred, termsOf, type Waits, waitOf } from './terms.ts'

type Deps = {
  db: Database
  secrets: Pick<Secrets, 'mac'>
  buyerOf: BuyerOf
  emit: Emit
  pricing: Pick<PricingApi, 'inTurn' | 'redeem' | 'countPaid'>
  priceNow: PriceNow
  nextNumber: () => Promise<string>
  changes: Pick<Changes, 'take'>
  fulfilment: Pick<Fulfilment, 'deliver'>
  /** Absent: nobody counts. */
  inventory: Pick<InventoryApi, 'reserve' | 'release' | 'claim' | 'confirm'> | undefined
  evictions: Pick<Evictions, 'evictable'>
  /** Absent: orders are on account. */
  payments: Pick<PaymentsApi, 'open' | 'proceed'> | undefined
  shipping: Pick<ShippingApi, 'open'> | undefined
  cart: Pick<CartApi, 'take'> | undefined
  /** How many orders may wait for their payment. */
  pendingMax: { readonly ofBuyer: number; readonly ofNetwork: number }
  unpaidStock: Pick<UnpaidStock, 'admit' | 'admitContested'>
  waits: Waits
}

/** What somebody wants to buy, and has said of it. */
export type Purchase = {
  /** Null: a guest. */
  readonly customerId: string | null
  /** Who orders it: the customer, or an administrator for somebody; null is a guest. */
  readonly actor: string | null
  readonly input: CheckoutInput
  readonly source: Source
  /** That it was said in, as it was read; null: all at once. */
  readonly checkout: Pick<CheckoutRow, 'id' | 'version'> | null
  /** The address that it comes from; null: an administrator's, from which anybody may order. */
  readonly address: string | null
  readonly agreement: Agreement
  /** How it is to be paid; `undefined`: that is said later. */
  readonly payment: Choice | undefined
}

/** `order`: as it is, when that is known without reading it. */
export type Placed = {
  readonly id: string
  readonly isNew: boolean
  readonly order: OrderRow | undefined
}

/** Makes orders: all of one, or nothing of it. */
export function createPlacing(deps: Deps) {
  const { db, secrets, emit, pricing, inventory, payments, shipping, cart, pendingMax } = deps
  const { changes, evictions, fulfilment, unpaidStock } = deps

  /**
   * The id of the order; whoever comes second with a cart is told the first one's. Before it, stock is held, and after it the
   * provider of a payment is asked: neither waits within the transaction.
   * @throws `ORDER_INCOMPLETE`, `ORDER_ITEMS_UNAVAILABLE`, `SHIPPING_NOT_AVAILABLE`, `ORDER_PRICE_CHANGED`, `ORDER_CODE_REFUSED`,
   * `ORDER_PENDING_LIMIT`, `INVENTORY_SHORT`, `CART_CHANGED`, `PRICING_USED_UP` and its like, `PAYMENT_PROVIDER_UNKNOWN`,
   * `PAYMENT_METHOD_UNKNOWN`
   */
  async function place(purchase: Purchase, write: Write): Promise<Placed> {
    let order: OrderRow | undefined
    try {
      order = await make(purchase, write)
    } catch (error) {
      const isLate = error instanceof DomainError && error.kind === 'conflict'
      const earlier = isLate ? await earlierOf(purchase) : undefined
      if (earlier === undefined) throw error
      await write.answerWith(db, earlier.id)
      return { id: earlier.id, isNew: false, order: undefined }
    }
    if (purchase.payment !== undefined) await payments?.proceed(write.id)
    return { id: write.id, isNew: true, order }
  }

  async function earlierOf({ source: { cart_id, cart_version }, checkout }: Purchase) {
    if (checkout !== null) return db.first(findOrderOfCheckout, { checkout_id: checkout.id })
    return cart_id === null ? undefined : db.first(findOrderOfCart, { cart_id, cart_version })
  }

  /** Answers the order, unless something has become of it already. */
  async function make(purchase: Purchase, write: Write): Promise<OrderRow | undefined> {
    const { id } = write
    const { customerId, checkout } = purchase
    const who = { customerId, email: emailOf(purchase.input), network: networkFrom(purchase) }
    const [buyer, number] = await Promise.all([deps.buyerOf(who), deps.nextNumber()])
    const priced = await agreed(purchase, buyer)
    const draft = draftOf(priced)
    const order = orderFrom(purchase, draft, { id, number, buyer })
    const waitSeconds = waitOf([purchase.payment?.method], deps.waits, {
      isVerified: false,
      isDeferred: false
    })
    const { redemptions } = priced.quote
    // Of a few uses that many want, whoever comes too late is refused at the end: not together with others.
    const place = redemptions.some(({ limited }) => limited !== undefined) ? db : db.together()
    const turns = pricing.inTurn(place.inTurn(`orders ${order.buyer}`), redemptions)
    const lines = priced.sold.map(({ variantId, quantity }) => ({ variantId, quantity }))
    const network = networkFrom(purchase)
    // An order to be paid later contests nothing, and an administrator's order has no network to limit it by.
    const mayContest = order.state === 'pending' && network !== null && !isDeferred(purchase.payment?.method)
    const contestable = mayContest ? () => evictions.evictable(db, idsOf(lines)) : undefined
    const held = inventory && holding(inventory, id, lines, turns, contestable)
    return write.once(held ?? turns, async tx => {
      const contested = held?.contested() ?? []
      // One message: none of these needs the answer of another one, and what is wrong with one undoes all of them.
      const [, , inserted, , , method] = await inOrder([
        checkout === null ? undefined : takeCheckout(tx, customerId, checkout, write),
        takeCart(tx, purchase.source),
        insert(tx, order, draft, { actor: purchase.actor, waitSeconds }),
        order.state === 'pending' ? refuseTooMany(tx, order) : undefined,
        takeStock(tx, order, lines, { contested, isAssisted: network === null }),
        openAccount(tx, order, purchase),
        shipping?.open(tx, { orderId: id, customerId, groups: carriedIn(priced, draft) })
      ])
      if (network !== null) await unpaidStock.admit(tx, { orderId: id, method, network })
      const units = contested.reduce((sum, { quantity }) => sum + quantity, 0)
      if (network !== null && units > 0) await unpaidStock.admitContested(tx, { orderId: id, network, units })
      const { currency, total, state } = order
      const told = { order_id: id, number, customer_id: customerId, currency, total }
      emit(tx, orderCreated, id, told)
      const isDelivered = state === 'placed' && draft.lines.some(line => !line.requires_shipping)
      if (state === 'placed') {
        emit(tx, orderPlaced, id, told)
        if (isDelivered) await fulfilment.deliver(tx, await changes.take(tx, id))
      }
      await pricing.redeem(tx, id, buyer.customer ?? '', buyer.mailbox)
      const isPaid = order.payment_status !== 'unpaid'
      if (isPaid && redemptions.length > 0 && buyer.mailbox !== null)
        await pricing.countPaid(tx, id, buyer.mailbox)
      return isDelivered || purchase.payment !== undefined ? undefined : inserted
    })
  }

  /**
   * What it costs, as was agreed. How many there are is asked for a refusal alone, which says all that stands against it: whoever
   * reserves is told by that.
   */
  async function agreed(purchase: Purchase, buyer: Buyer): Promise<Priced> {
    const { customerId, input, agreement, checkout, address } = purchase
    const path = checkout === null ? 'body/' : ''
    const judge = async (isCounted: boolean) => {
      const asked = { isCounted, buyer, isTrusted: address === null }
      const known = await deps.priceNow(db, customerId, input, asked)
      // An administrator may learn what a buyer has bought.
      const priced = asked.isTrusted ? known : withoutHistory(known)
      const said = { input, customer_id: customerId, quote_hash: priced.quote.hash }
      return { priced, refusal: refusalOf(priced, remarksOn(said, priced, false), agreement, path) }
    }
    const first = await judge(false)
    const { priced, refusal } = first.refusal === undefined ? first : await judge(true)
    if (refusal !== undefined) throw refusal
    return priced
  }

  /** The order is one of those that are counted. */
  async function refuseTooMany(tx: Queryable, order: repository.NewOrder): Promise<void> {
    const pending = await tx.first(repository.countPending, order)
    const { ofBuyer, ofNetwork } = pendingMax
    if (pending === undefined) return
    if (pending.of_buyer > ofBuyer) throw tooManyPending({ details: { limit: ofBuyer } })
    if (pending.of_network > ofNetwork) throw tooManyPending({ details: { limit: ofNetwork } })
  }

  async function takeCart(tx: Transaction, { cart_id, cart_version }: Source): Promise<void> {
    if (cart_id !== null) await cart?.take(tx, cart_id, cart_version)
  }

  async function takeStock(
    tx: Transaction,
    { id, payment_status }: repository.NewOrder,
    lines: readonly Line[],
    { contested, isAssisted }: { contested: readonly StockPart[]; isAssisted: boolean }
  ): Promise<void> {
    await inventory?.claim(tx, id, lines, contested)
    // An order that is not paid may lose its units to one that is, unless an administrator made it.
    if (isAssisted || payment_status !== 'unpaid') await inventory?.confirm(tx, id)
  }

  async function openAccount(
    tx: Transaction,
    {
      id: orderId,
      number: reference,
      customer_id: customerId,
      currency,
      total: dueMinor
    }: repository.NewOrder,
    { payment, address: network }: Purchase
  ): Promise<string | undefined> {
    // Without payments every order is paid later.
    if (payments === undefined) return 'on_account'
    const account = { orderId, reference, customerId, currency, dueMinor, tokenVersion: 1, network }
    return payments.open(tx, account, payment)
  }

  const networkFrom = ({ address }: Purchase) => (address === null ? null : networkOf(secrets, address))

  /** The order as it begins. */
  function orderFrom(
    purchase: Purchase,
    { totals }: Draft,
    { id, number, buyer }: { id: string; number: string; buyer: Buyer }
  ): repository.NewOrder {
    const { customerId, input, source, checkout, payment } = purchase
    const terms = payments === undefined ? 'on_account' : termsOf(payment)
    const isPaid = totals.total === 0
    const isPending = terms === 'prepaid' && !isPaid
    return {
      ...{ id, number, terms, ...totals, ...source },
      // A guest without an e-mail address was refused.
      buyer: buyer.key ?? '',
      mailbox: buyer.mailbox,
      state: isPending ? 'pending' : 'placed',
      checkout_id: checkout?.id ?? null,
      customer_id: customerId,
      network: isPending ? networkFrom(purchase) : null,
      email: input.email,
      shipping_address: input.shippingAddress,
      billing_address: input.billingAddress,
      note: input.note,
      payment_status: payments === undefined ? null : isPaid ? 'paid' : 'unpaid'
    }
  }

  return { place }
}
export type Placing = ReturnType<typeof createPlacing>

/**
 * Nobody changes it until the order is there. @throws `CHECKOUT_STALE`, `CHECKOUT_COMPLETED`, `CHECKOUT_EXPIRED`,
 * `CHECKOUT_CANCELED`, `CHECKOUT_CHANGED`
 */
async function takeCheckout(
  tx: Transaction,
  customerId: string | null,
  { id, version }: Pick<CheckoutRow, 'id' | 'version'>,
  write: Write
): Promise<void> {
  const row = await lock(tx, customerId, id, write)
  refuseUnlessOpen(row)
  if (row.version !== version) throw checkoutChanged()
}

const idsOf = (lines: readonly Line[]) => lines.map(({ variantId }) => variantId)

async function insert(
  tx: Queryable,
  order: repository.NewOrder,
  draft: Draft,
  by: { readonly actor: string | null; readonly waitSeconds: number }
): Promise<OrderRow> {
  const { groups, lines, components } = draft
  const { actor, waitSeconds: wait_seconds } = by
  const row = await tx.first(repository.insertOrder, {
    ...order,
    groups,
    lines,
    components,
    actor,
    wait_seconds
  })
  if (row === undefined) throw new Error('an order that was inserted answers nothing')
  return insertedOrder(order, draft, actor, row)
}
