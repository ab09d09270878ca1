import type { Page } from '../../../kernel/pages.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { UpdateMetadata } from '../../../platform/metadata-command.ts'
import type { AssistedBuyer, Buyer, CustomerBuyer } from '../buyers/buyer.ts'
import type { CompleteCheckoutInput, PlaceOrderInput } from '../checkouts/place-order.ts'
import type { CheckoutResponse } from '../checkouts/schema.ts'
import type { NewCheckoutWithToken } from '../checkouts/service.ts'
import type { OrderResponse, OrderSummaryResponse } from '../orders/schema.ts'
import type { PlacedOrderWithToken } from '../orders/service.ts'

// Each command opens its own transaction, so call it outside of one: inside, it would wait for the caller's locks.
// A repeated write creates nothing twice: its id is the id of what it creates. Pass `writeOf(request)` in a route, for
// one command, and `writeOfJob(job, label)` in a job, with another label for each command.

/** A customer, or a client that acts for one. Guests have no list of orders. */
type ListBuyer = CustomerBuyer | (AssistedBuyer & { readonly customerId: string })

/** Checkouts for other modules. The routes of `/api/checkouts` call the same functions. */
export type CheckoutCommands = {
  /**
   * Creates a checkout from `items`, from the customer's cart (`cart: true`) or from a guest cart, and calculates its
   * price. It reserves no stock and takes no lock. A repeated write returns the checkout of the first one, with its
   * present price. Everything that is wrong or missing is a finding; `ready` says that none blocks.
   * @throws `ORDER_REQUEST_INVALID`, `CHECKOUT_SOURCE_UNCLEAR`, `CHECKOUT_CARTS_OFF`, `CART_EMPTY`,
   * `CART_GUEST_NOT_FOUND`, `PRICING_MARKET_UNKNOWN`, `PRICING_QUOTE_TOO_LARGE`, `CHECKOUT_CODES_LIMITED`,
   * `PROVIDER_REQUESTS_LIMITED`
   * @example
   * const items = [{ variant_id: variantId, quantity: 2 }]
   * const buyer = { kind: 'customer', customerId } as const
   * const { checkout } = await orders.checkouts.begin(buyer, { items, shipping_address }, writeOfJob(job, 'checkout'))
   * assert.deepEqual([checkout.total, checkout.ready], [2_490, true])
   */
  begin(buyer: Buyer, request: PlaceOrderInput, write: IdempotentWrite): Promise<NewCheckoutWithToken>
  /**
   * Replaces every field of an open checkout: a field that is omitted is removed. Locks the checkout until the commit.
   * A repeated write stores the same fields again, unless the checkout was completed meanwhile.
   * @throws `CHECKOUT_NOT_FOUND`, `CHECKOUT_STALE`, `CHECKOUT_COMPLETED`, `CHECKOUT_EXPIRED`, `CHECKOUT_CANCELED`, and
   * as `begin`
   * @example
   * const buyer = { kind: 'customer', customerId } as const
   * const request = { items: [{ variant_id: variantId, quantity: 1 }], shipping_address }
   * const { checkout } = await orders.checkouts.begin(buyer, request, newWrite())
   * const noted = { ...request, note: 'Ring twice.' }
   * const updated = await orders.checkouts.update(buyer, checkout.id, noted, newWrite())
   * assert.deepEqual([updated.note, updated.version], ['Ring twice.', checkout.version + 1])
   */
  update(
    buyer: Buyer,
    id: string,
    request: PlaceOrderInput,
    write: IdempotentWrite
  ): Promise<CheckoutResponse>
  /**
   * Returns a checkout with its present price. Takes no lock. An expired checkout stays readable for an hour. `write`:
   * the request or job that reads, as `writeOf(request)`; it lends its slot while a provider of prices is asked.
   * @throws `CHECKOUT_NOT_FOUND`: it does not exist, it belongs to another buyer, or the token of the guest is wrong;
   * `PROVIDER_REQUESTS_LIMITED`
   * @example
   * const request = { items: [{ variant_id: variantId, quantity: 1 }], email: 'ada@example.com' }
   * const { checkout, checkoutToken } = await orders.checkouts.begin({ kind: 'guest' }, request, newWrite())
   * const token = checkoutToken ?? ''
   * const read = await orders.checkouts.read({ kind: 'guest', token }, checkout.id, newWrite())
   * assert.equal(read.id, checkout.id)
   * const customer = { kind: 'customer', customerId } as const
   * const refused = orders.checkouts.read(customer, checkout.id, newWrite())
   * await assert.rejects(refused, { code: 'CHECKOUT_NOT_FOUND' })
   */
  read(buyer: Buyer, id: string, write: Pick<IdempotentWrite, 'withoutSlot'>): Promise<CheckoutResponse>
  /**
   * Cancels an open checkout; a canceled one is returned unchanged. Locks the checkout until the commit.
   * @throws `CHECKOUT_NOT_FOUND`, `CHECKOUT_STALE`, `CHECKOUT_COMPLETED`, `CHECKOUT_EXPIRED`
   * @example
   * const buyer = { kind: 'customer', customerId } as const
   * const request = { items: [{ variant_id: variantId, quantity: 1 }] }
   * const { checkout } = await orders.checkouts.begin(buyer, request, newWrite())
   * const canceled = await orders.checkouts.cancel(buyer, checkout.id, newWrite())
   * assert.equal(canceled.status, 'canceled')
   */
  cancel(buyer: Buyer, id: string, write: IdempotentWrite): Promise<CheckoutResponse>
  /**
   * Places an order from a checkout, at the price of its last write or at `expected_total`, and starts `payment`. A
   * checkout becomes at most one order that is not canceled: completing it again returns that order, with `isNew:
   * false`. A repeated write returns its own order, also a canceled one. Locks the checkout and its cart, the buyer's
   * pending orders, stock and limited promotions, until the commit. No payment provider is called while they are
   * locked.
   * @throws `CHECKOUT_NOT_FOUND`, `CHECKOUT_STALE`, `CHECKOUT_EXPIRED`, `CHECKOUT_CANCELED`, `CHECKOUT_CHANGED`,
   * `CHECKOUT_CODES_LIMITED`, and as `OrderCommands.place`
   * @example
   * const buyer = { kind: 'customer', customerId } as const
   * const request = { items: [{ variant_id: variantId, quantity: 1 }], shipping_address }
   * const { checkout } = await orders.checkouts.begin(buyer, request, writeOfJob(job, 'checkout'))
   * const payment = { provider: 'manual', method: 'bank_transfer' }
   * const complete = () => orders.checkouts.complete(buyer, checkout.id, { payment }, writeOfJob(job, 'order'))
   * const [{ order }, again] = [await complete(), await complete()]
   * assert.equal(again.order.id, order.id)
   */
  complete(
    buyer: Buyer,
    id: string,
    request: CompleteCheckoutInput,
    write: IdempotentWrite
  ): Promise<PlacedOrderWithToken>
}

/** Orders for other modules. The routes of `/api/orders` call the same functions. */
export type OrderCommands = {
  /**
   * Places an order without a checkout, at `expected_total` or at the present price, and starts `payment`. Without
   * `items`, a customer orders their cart, which is emptied. All of it happens, or nothing. A repeated write returns
   * its own order. Locks the cart, the buyer's pending orders, stock and limited promotions, until the commit. No
   * payment provider is called while they are locked.
   * @throws `ORDER_INCOMPLETE`, `ORDER_ITEMS_UNAVAILABLE`, `SHIPPING_NOT_AVAILABLE`, `ORDER_MARKET_DESTINATION`,
   * `ORDER_PRICE_CHANGED`, `ORDER_CODE_REFUSED`, `ORDER_NOT_ALLOWED`, `ORDER_CHECK_UNAVAILABLE`,
   * `ORDER_PENDING_LIMIT`, `ORDER_UNPAID_STOCK_LIMIT`, `INVENTORY_SHORT`, `CART_CHANGED`, `PRICING_USED_UP`,
   * `PAYMENT_PROVIDER_UNKNOWN`, `PAYMENT_METHOD_UNKNOWN`, and as `CheckoutCommands.begin`
   * @example
   * const [variant] = await catalog.findBySku([sku])
   * assert.ok(variant?.isActive)
   * const items = [{ variant_id: variant.variantId, quantity: 1, metadata: { engraving: 'Ada' } }]
   * const buyer = { kind: 'customer', customerId } as const
   * const placed = await orders.orders.place(buyer, { items, shipping_address }, writeOfJob(job, 'order'))
   * assert.deepEqual([placed.isNew, placed.order.total], [true, 1_490])
   * assert.deepEqual(placed.order.items[0]?.metadata, { engraving: 'Ada' })
   */
  place(buyer: Buyer, request: PlaceOrderInput, write: IdempotentWrite): Promise<PlacedOrderWithToken>
  /**
   * Returns an order of the buyer, as the buyer sees it. Takes no lock. One statement.
   * @throws `ORDER_NOT_FOUND`: it does not exist, it belongs to another buyer, or the token of the guest is wrong
   * @example
   * const items = [{ variant_id: variantId, quantity: 1 }]
   * const request = { items, shipping_address, email: 'ada@example.com' }
   * const { order, orderToken } = await orders.orders.place({ kind: 'guest' }, request, newWrite())
   * const read = await orders.orders.read({ kind: 'guest', token: orderToken ?? '' }, order.id)
   * assert.equal(read.number, order.number)
   * const customer = { kind: 'customer', customerId } as const
   * await assert.rejects(orders.orders.read(customer, order.id), { code: 'ORDER_NOT_FOUND' })
   */
  read(buyer: Buyer, id: string): Promise<OrderResponse>
  /**
   * Returns a page of the customer's orders, newest first, without their items. Takes no lock. One statement, and one
   * more for `count`.
   * @throws `INVALID_CURSOR`
   * @example
   * const buyer = { kind: 'customer', customerId } as const
   * const items = [{ variant_id: variantId, quantity: 1 }]
   * const { order } = await orders.orders.place(buyer, { items, shipping_address }, newWrite())
   * const { items: page, total } = await orders.orders.list(buyer, { limit: 10, count: true })
   * assert.deepEqual([page[0]?.id, total], [order.id, 1])
   */
  list(buyer: ListBuyer, query: PageQuery): Promise<Page<OrderSummaryResponse>>
  /**
   * Changes the metadata of an order in any state, and nothing else: a sent key is set, null deletes it, other keys stay.
   * Buyers read `metadata`; only administrators read `private_metadata`. Raises the version unless the metadata stays
   * equal, and emits no event. A repeated request changes nothing; a retried job sets the same keys again. Locks the order until the commit.
   * After erasure, values are rejected.
   * @throws `ORDER_NOT_FOUND`, `METADATA_ERASED`, `METADATA_LIMIT`, `METADATA_INVALID`
   * @example
   * const buyer = { kind: 'customer', customerId } as const
   * const items = [{ variant_id: variantId, quantity: 1 }]
   * const request = { items, shipping_address, metadata: { channel: 'app', gift: 'yes' } }
   * const { order } = await orders.orders.place(buyer, request, writeOfJob(job, 'order'))
   * const change = { metadata: { gift: null, erp_number: '4711' }, private_metadata: { margin: 'low' } }
   * const updated = await orders.orders.updateMetadata(order.id, change, writeOfJob(job, 'metadata'))
   * assert.deepEqual(updated.metadata, { channel: 'app', erp_number: '4711' })
   * assert.deepEqual([updated.private_metadata, updated.version], [{ margin: 'low' }, order.version + 1])
   */
  updateMetadata: UpdateMetadata
}
