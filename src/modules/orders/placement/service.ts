import { DomainError } from '../../../kernel/errors.ts'
import { settleAllOrThrow } from '../../../kernel/settle-all-or-throw.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { CartApi } from '../../cart/index.ts'
import type { InventoryApi, InventoryItemQuantity, StockRequestLine } from '../../inventory/index.ts'
import type { OrderPayments, StartedPayment } from '../../payments/index.ts'
import type { PricingApi } from '../../pricing/index.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import { type Buyer, clientNetworkOfBuyer, customerIdOfBuyer, waitingRequestOf } from '../buyers/buyer.ts'
import { type BuyerLimitKeys, type FindBuyerLimitKeys, hashClientNetwork } from '../buyers/service.ts'
import { validCheckoutEmailOrNull } from '../checkouts/input.ts'
import { findCheckoutInputProblems } from '../checkouts/input-checks.ts'
import type { PricedCheckout } from '../checkouts/price.ts'
import type { PriceCheckout } from '../checkouts/pricer.ts'
import { completeCheckout } from '../checkouts/service.ts'
import { tooManyPendingOrdersError } from '../errors.ts'
import { orderCreatedEvent, orderPlacedEvent } from '../events.ts'
import type { FulfilmentService } from '../fulfilment/service.ts'
import { sumStockLinesByVariant } from '../fulfilment/unit-groups.ts'
import { versionOfLockedOrder } from '../lifecycle/locked-order.ts'
import type { OrderTransitions } from '../lifecycle/service.ts'
import { isDeferredPaymentMethod, type UnpaidOrderTimeoutSeconds } from '../lifecycle/terms.ts'
import type { OrderChecks } from '../order-checks/service.ts'
import { findOrderOfCartVersion, findOrderOfCheckout, type OrderRow } from '../orders/repository.ts'
import { coveredByTenders, type OrderTenders } from '../tenders/service.ts'
import type { StockEvictionService } from '../unpaid-stock/eviction-service.ts'
import type { UnpaidStockLimiter } from '../unpaid-stock/service.ts'
import { orderRowAfterInsert } from './inserted.ts'
import { deliveryGroupsWithShippingOption } from './order-rows.ts'
import { newOrderRowOf, type OrderToPlace } from './purchase.ts'
import { findOrderPlacementError, hidePurchaseHistoryFindings } from './refusals.ts'
import * as repository from './repository.ts'
import { withStockReservation } from './stock-reservation.ts'

/** Version of an order that the transaction inserts and does not change again. */
const INSERTED_VERSION = 1

type Deps = {
  db: Database
  secrets: Pick<Secrets, 'mac'>
  findBuyerKeys: FindBuyerLimitKeys
  emit: Emit
  pricing: Pick<PricingApi, 'serializedBy' | 'redeem' | 'countPaidRedemptions'>
  priceCheckout: PriceCheckout
  checks: Pick<OrderChecks, 'priceAllowed'>
  nextOrderNumber: () => Promise<string>
  changes: Pick<OrderTransitions, 'lock'>
  fulfilment: Pick<FulfilmentService, 'deliverDigital'>
  /** Absent in a shop without inventory: then stock is not checked. */
  inventory: Pick<InventoryApi, 'reserve' | 'release' | 'claim' | 'confirm'> | undefined
  evictions: Pick<StockEvictionService, 'evictable'>
  /** Absent in a shop without payments: then orders are on account. */
  payments: Pick<OrderPayments, 'openAccountOfOrder' | 'sendOperations'> | undefined
  shipping: Pick<ShippingApi, 'createShipments'> | undefined
  cart: Pick<CartApi, 'emptyForOrder'> | undefined
  /** Maximum number of pending orders. */
  pendingMax: { readonly ofBuyer: number; readonly ofNetwork: number }
  unpaidStock: Pick<UnpaidStockLimiter, 'availableOf' | 'admitNew' | 'admitContested'>
  paymentTimeouts: UnpaidOrderTimeoutSeconds
  tenders: Pick<OrderTenders, 'reserve' | 'confirm' | 'release'>
}

/** The id of a placed order. `order`: the order itself, present if it needs no further read. */
export type PlacedOrderIdAndRow = {
  readonly id: string
  readonly isNew: boolean
  readonly order: OrderRow | undefined
}

/** `order`: its row, unless the transaction has changed it after the insert. */
type CreatedOrder = { readonly order: OrderRow | undefined; readonly sendPayment: StartedPayment['send'] }

/** Places orders, each in one transaction. */
export function createOrderPlacement(deps: Deps) {
  const { db, secrets, emit, pricing, inventory, payments, shipping, cart, pendingMax } = deps
  const { changes, evictions, fulfilment, unpaidStock, tenders } = deps

  /**
   * Places an order and returns its id, or the id of the earlier order of the same cart or checkout. Stock is
   * reserved before the transaction and the payment provider is called after it, so neither is waited for
   * inside.
   * @throws `ORDER_INCOMPLETE`, `ORDER_ITEMS_UNAVAILABLE`, `SHIPPING_NOT_AVAILABLE`, `ORDER_PRICE_CHANGED`,
   * `ORDER_CODE_REFUSED`, `ORDER_NOT_ALLOWED`, `ORDER_CHECK_UNAVAILABLE`, `ORDER_PENDING_LIMIT`,
   * `INVENTORY_SHORT`, `CART_CHANGED`, `PRICING_USED_UP` and its like, `PAYMENT_PROVIDER_UNKNOWN`,
   * `PAYMENT_METHOD_UNKNOWN`, `PROVIDER_REQUESTS_LIMITED`; as `OrderTenders.reserve`
   */
  async function placeOrder(purchase: OrderToPlace, write: IdempotentWrite): Promise<PlacedOrderIdAndRow> {
    let created: CreatedOrder | undefined
    try {
      created = await createOrder(purchase, write)
    } catch (error) {
      // An expired reservation needs no release, so a failure here must not hide the error.
      await tenders.release(write.id, purchase.tenders).catch(() => {})
      const isLate = error instanceof DomainError && error.kind === 'conflict'
      const earlier = isLate ? await earlierOf(purchase) : undefined
      if (earlier === undefined) throw error
      await write.answerWith(db, earlier.id)
      return { id: earlier.id, isNew: false, order: undefined }
    }
    const { id, withoutSlot } = write
    if (created === undefined) await payments?.sendOperations(id, withoutSlot)
    const sent = await created?.sendPayment?.(withoutSlot)
    return { id, isNew: true, order: sent?.isUnchanged === false ? undefined : created?.order }
  }

  async function earlierOf({ source: { cart_id, cart_version }, checkout }: OrderToPlace) {
    if (checkout !== null) return db.first(findOrderOfCheckout, { checkout_id: checkout.id })
    if (cart_id === null || cart_version === null) return undefined
    return db.first(findOrderOfCartVersion, { cart_id, cart_version })
  }

  /**
   * Inserts the order. Returns its row, which saves a read. Returns undefined when an earlier attempt of the
   * request inserted it.
   */
  async function createOrder(
    purchase: OrderToPlace,
    write: IdempotentWrite
  ): Promise<CreatedOrder | undefined> {
    const { id } = write
    const { buyer, checkout } = purchase
    const customerId = customerIdOfBuyer(buyer)
    const isAssisted = buyer.kind === 'assisted'
    const network = networkFrom(buyer)
    const buyerFacts = { customerId, email: validCheckoutEmailOrNull(purchase.input), network }
    const [keys, number] = await Promise.all([deps.findBuyerKeys(buyerFacts), deps.nextOrderNumber()])
    const priced = await deps.checks.priceAllowed(purchase, write, () => priceAsAgreed(purchase, keys, write))
    const reserved = await tenders.reserve(id, {
      named: purchase.tenders,
      totalMinor: priced.quote.totals.totalMinor,
      currency: priced.quote.currency,
      buyer: { customerId, network: clientNetworkOfBuyer(buyer) }
    })
    const order = newOrderRowOf(purchase, priced, {
      id,
      number,
      keys,
      network,
      hasPayments: payments !== undefined,
      paymentTimeouts: deps.paymentTimeouts,
      tenderedMinor: coveredByTenders(reserved)
    })
    const { redemptions } = priced.quote
    // A limited code may be used up at the end of the transaction. Then only this order must fail, so it is
    // not in a group commit.
    // Orders with tenders lock rows of providers, in an order that a group does not know.
    const isAlone = reserved.length > 0 || redemptions.some(({ limited }) => limited !== undefined)
    const transactions = isAlone ? db : db.groupCommit()
    const serialized = pricing.serializedBy(transactions.serializedBy(`orders ${order.buyer}`), redemptions)
    const lines = sumStockLinesByVariant(priced.sold)
    // A deferred payment contests no stock. Nor does an order without a client address, because contests are
    // limited by network.
    const mayContest =
      order.state === 'pending' && network !== null && !isDeferredPaymentMethod(purchase.payment?.method)
    const variantIds = lines.map(line => line.variantId)
    const contestable = mayContest ? () => evictions.evictable(db, variantIds) : undefined
    const reserving = inventory && withStockReservation(inventory, id, lines, serialized, contestable)
    return write.once(reserving ?? serialized, async tx => {
      const contested = reserving?.contested() ?? []
      // The statements are sent in one message, because none needs the result of another. If one fails, all
      // are rolled back.
      const [available, , , inserted, , , payment] = await settleAllOrThrow([
        order.is_deferred ? unpaidStock.availableOf(tx, variantIds) : undefined,
        checkout === null ? undefined : completeCheckout(tx, customerId, checkout, write),
        emptyCart(tx, purchase.source, order),
        insertOrder(tx, order),
        order.state === 'pending' ? assertPendingLimit(tx, order) : undefined,
        claimStock(tx, order, lines, { contested, isAssisted }),
        openPaymentAccount(tx, order, purchase),
        shipping?.createShipments(tx, {
          orderId: id,
          customerId,
          groups: deliveryGroupsWithShippingOption(priced, order)
        })
      ])
      const { currency, total, state } = order
      const payload = { order_id: id, number, customer_id: customerId, currency, total }
      const subject = { id, version: () => versionOfLockedOrder(tx, id) ?? INSERTED_VERSION }
      emit(tx, orderCreatedEvent, subject, payload)
      const isDelivered = state === 'placed' && order.lines.some(line => !line.requires_shipping)
      if (state === 'placed') {
        emit(tx, orderPlacedEvent, subject, payload)
        if (isDelivered) await fulfilment.deliverDigital(tx, await changes.lock(tx, id))
      }
      await pricing.redeem(tx, id, keys.customer ?? '', keys.mailbox)
      const isPaid = order.payment_status !== 'unpaid'
      if (isPaid && redemptions.length > 0 && keys.mailbox !== null)
        await pricing.countPaidRedemptions(tx, id, keys.mailbox)
      await tenders.confirm(tx, id, reserved)
      if (!isAssisted)
        await unpaidStock.admitNew(tx, {
          order,
          method: payments === undefined ? 'on_account' : payment?.method,
          network,
          isContesting: contested.length > 0,
          available
        })
      await unpaidStock.admitContested(tx, { orderId: id, network, contested })
      // A method that the payments module has chosen may change the expiry.
      const hasChosenMethod = payment?.method !== purchase.payment?.method
      const isChanged = isDelivered || hasChosenMethod || reserved.length > 0
      return { order: isChanged ? undefined : inserted, sendPayment: payment?.send }
    })
  }

  /**
   * Calculates the price and asserts that the buyer has agreed to it. Stock is checked only when the purchase
   * is rejected, so that the error lists everything that is wrong. Otherwise the reservation reports missing
   * stock.
   */
  async function priceAsAgreed(
    purchase: OrderToPlace,
    keys: BuyerLimitKeys,
    write: IdempotentWrite
  ): Promise<PricedCheckout> {
    const { buyer, input } = purchase
    const [customerId, request] = [customerIdOfBuyer(buyer), waitingRequestOf(buyer, write)]
    const priceAndCheck = async (isStockChecked: boolean) => {
      const options = { isStockChecked, buyer: keys, isTrusted: buyer.kind === 'assisted', request }
      const full = await deps.priceCheckout(db, customerId, input, options)
      // Administrators may see findings that reveal earlier orders of the buyer.
      const priced = options.isTrusted ? full : hidePurchaseHistoryFindings(full)
      const checked = { input, customer_id: customerId, quote_hash: priced.quote.hash }
      return {
        priced,
        refusal: findOrderPlacementError(priced, findCheckoutInputProblems(checked, priced, false), purchase)
      }
    }
    const first = await priceAndCheck(false)
    const { priced, refusal } = first.refusal === undefined ? first : await priceAndCheck(true)
    if (refusal !== undefined) throw refusal
    return priced
  }

  /** Counts pending orders after the insert, so that the new order is included. @throws `ORDER_PENDING_LIMIT` */
  async function assertPendingLimit(tx: Queryable, order: repository.NewOrderRow): Promise<void> {
    const pending = await tx.first(repository.countPendingOrdersOfBuyerAndNetwork, order)
    const { ofBuyer, ofNetwork } = pendingMax
    if (pending === undefined) return
    if (pending.of_buyer > ofBuyer) throw tooManyPendingOrdersError({ details: { limit: ofBuyer } })
    if (pending.of_network > ofNetwork) throw tooManyPendingOrdersError({ details: { limit: ofNetwork } })
  }

  async function emptyCart(
    tx: Transaction,
    { cart_id, cart_version }: OrderToPlace['source'],
    { state }: repository.NewOrderRow
  ): Promise<void> {
    if (cart_id === null || cart_version === null) return
    // Only a pending order can expire, and then returns its lines.
    await cart?.emptyForOrder(tx, cart_id, cart_version, { canReturnLines: state === 'pending' })
  }

  async function claimStock(
    tx: Transaction,
    { id, payment_status }: repository.NewOrderRow,
    lines: readonly StockRequestLine[],
    { contested, isAssisted }: { contested: readonly InventoryItemQuantity[]; isAssisted: boolean }
  ): Promise<void> {
    await inventory?.claim(tx, id, lines, contested)
    // A paid order can evict units of an unpaid one that is not confirmed. Orders of administrators are
    // confirmed immediately.
    if (isAssisted || payment_status !== 'unpaid') await inventory?.confirm(tx, id)
  }

  async function openPaymentAccount(
    tx: Transaction,
    {
      id: orderId,
      number: reference,
      customer_id: customerId,
      currency,
      total,
      tendered
    }: repository.NewOrderRow,
    { payment, buyer }: OrderToPlace
  ): Promise<StartedPayment | undefined> {
    const network = clientNetworkOfBuyer(buyer)
    const dueMinor = total - tendered
    const account = { orderId, reference, customerId, currency, dueMinor, tokenVersion: 1, network }
    return payments?.openAccountOfOrder(tx, account, payment)
  }

  function networkFrom(buyer: Buyer): string | null {
    const address = clientNetworkOfBuyer(buyer)
    return address === null ? null : hashClientNetwork(secrets, address)
  }

  return { placeOrder }
}
export type OrderPlacement = ReturnType<typeof createOrderPlacement>

async function insertOrder(tx: Queryable, order: repository.NewOrderRow): Promise<OrderRow> {
  const row = await tx.first(repository.insertOrder, order)
  if (row === undefined) throw new Error('the insert of an order returned no row')
  return orderRowAfterInsert(order, row)
}
