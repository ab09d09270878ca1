import { found } from '../../../kernel/errors.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { OrderPayments } from '../../payments/index.ts'
import {
  type Buyer,
  type CustomerBuyer,
  clientNetworkOfBuyer,
  customerIdOfBuyer,
  type GuestBuyer
} from '../buyers/buyer.ts'
import type { CancellationService } from '../cancellation/service.ts'
import type { LimitPromotionCodeGuesses } from '../checkouts/code-guesses.ts'
import type { CompleteCheckoutInput, PlaceOrderInput } from '../checkouts/place-order.ts'
import type { ReadCheckoutInput } from '../checkouts/read-input.ts'
import { assertCheckoutOpen, type CheckoutService } from '../checkouts/service.ts'
import { orderNotFoundError } from '../errors.ts'
import type { CustomerCancellationPolicy } from '../lifecycle/actions.ts'
import type { OrderPlacement, PlacedOrderIdAndRow } from '../placement/service.ts'
import * as repository from './repository.ts'
import type { OrderResponse, OrderSummaryResponse } from './schema.ts'
import { buyerOrderView, orderSummaryView } from './view.ts'

type Deps = {
  db: Database
  checkouts: Pick<CheckoutService, 'find' | 'assertAccess'>
  readCheckoutInput: ReadCheckoutInput
  placement: OrderPlacement
  payments: Pick<OrderPayments, 'sendOperations'> | undefined
  cancellations: Pick<CancellationService, 'request'>
  tokens: OrderTokens
  limitCodeGuesses: LimitPromotionCodeGuesses
  policy: CustomerCancellationPolicy
}
/** Creates and verifies order tokens, which prove access to guest orders. Payments use the same tokens. */
export type OrderTokens = {
  create(orderId: string, version: number): string
  verify(token: string, orderId: string, version: number): boolean
}
/**
 * An order, and whether this request created it. Otherwise an earlier request did, from the same cart or
 * checkout.
 */
export type PlacedOrderWithToken = {
  readonly order: OrderResponse
  readonly isNew: boolean
  /** The token that gives a guest access to the order. Null: a customer owns the order. */
  readonly orderToken: string | null
}

export function createOrderService({
  db,
  checkouts,
  readCheckoutInput,
  placement,
  payments,
  cancellations,
  tokens,
  limitCodeGuesses,
  policy
}: Deps) {
  const toPlaced = (order: repository.OrderRow, isNew: boolean): PlacedOrderWithToken => ({
    order: buyerOrderView(order, policy),
    isNew,
    orderToken: order.customer_id === null ? tokens.create(order.id, order.token_version) : null
  })

  const findOwned = async (owner: string | null, id: string) =>
    found(await db.first(repository.findOrderOfBuyer, { id, customer_id: owner }), orderNotFoundError)

  /** Finds an order that the buyer may reach. @throws `ORDER_NOT_FOUND` */
  async function find(buyer: Buyer, id: string): Promise<repository.OrderRow> {
    const order = await findOwned(customerIdOfBuyer(buyer), id)
    if (buyer.kind === 'guest' && !tokens.verify(buyer.token ?? '', id, order.token_version))
      throw orderNotFoundError()
    return order
  }

  /**
   * Returns the order of an earlier attempt of this request. Resumes its payment, because that attempt may
   * not have started it.
   */
  async function repeatResponse(buyer: Buyer, write: IdempotentWrite): Promise<PlacedOrderWithToken> {
    const resultId = write.resultId()
    await payments?.sendOperations(resultId, write.withoutSlot)
    return toPlaced(await findOwned(customerIdOfBuyer(buyer), resultId), resultId === write.id)
  }

  async function readPlaced(
    buyer: Buyer,
    { id, isNew, order }: PlacedOrderIdAndRow
  ): Promise<PlacedOrderWithToken> {
    return toPlaced(order ?? (await findOwned(customerIdOfBuyer(buyer), id)), isNew)
  }

  /** Creates an order, without reading it. @throws as `placeOrder` and `readCheckoutInput` */
  async function create(
    buyer: Buyer,
    request: PlaceOrderInput,
    write: IdempotentWrite
  ): Promise<PlacedOrderIdAndRow> {
    const isFromCart = buyer.kind === 'customer' && request.items === undefined
    const { input, source } = await readCheckoutInput(customerIdOfBuyer(buyer), {
      ...request,
      ...(isFromCart && { cart: true })
    })
    const { expected_total: expectedTotal, payment, tenders = [] } = request
    const purchase = { buyer, input, source, checkout: null, expectedTotal, payment, tenders }
    return placement.placeOrder(purchase, write)
  }

  async function place(
    buyer: Buyer,
    request: PlaceOrderInput,
    write: IdempotentWrite
  ): Promise<PlacedOrderWithToken> {
    // An earlier attempt of this request has emptied the cart.
    if (write.alreadyApplied) return repeatResponse(buyer, write)
    return readPlaced(buyer, await create(buyer, request, write))
  }

  /** See `CheckoutCommands.complete`. */
  async function complete(
    buyer: Buyer,
    checkoutId: string,
    { expected_total: expectedTotal, payment, tenders = [] }: CompleteCheckoutInput,
    write: IdempotentWrite
  ): Promise<PlacedOrderWithToken> {
    if (write.alreadyApplied) {
      checkouts.assertAccess(buyer, checkoutId)
      return repeatResponse(buyer, write)
    }
    const checkout = await checkouts.find(buyer, checkoutId)
    if (checkout.order_id !== null) {
      await write.answerWith(db, checkout.order_id)
      return toPlaced(await findOwned(customerIdOfBuyer(buyer), checkout.order_id), false)
    }
    assertCheckoutOpen(checkout)
    const { input, cart_id, cart_version } = checkout
    const source = { cart_id, cart_version }
    const purchase = { buyer, input, source, checkout, expectedTotal, payment, tenders }
    const placed = await limitCodeGuesses(clientNetworkOfBuyer(buyer), { codes: [...input.codes] }, () =>
      placement.placeOrder(purchase, write)
    )
    return readPlaced(buyer, placed)
  }

  return {
    create,
    /** See `OrderCommands.place`. */
    place: async (
      buyer: Buyer,
      request: PlaceOrderInput,
      write: IdempotentWrite
    ): Promise<PlacedOrderWithToken> =>
      limitCodeGuesses(clientNetworkOfBuyer(buyer), request, () => place(buyer, request, write)),
    complete,
    /** See `OrderCommands.read`. */
    read: async (buyer: Buyer, id: string): Promise<OrderResponse> =>
      buyerOrderView(await find(buyer, id), policy),
    /** @throws `ORDER_NOT_FOUND`, `ORDER_STALE`, `ORDER_NOT_CANCELABLE` */
    cancel: async (
      buyer: CustomerBuyer | GuestBuyer,
      id: string,
      write: IdempotentWrite
    ): Promise<OrderResponse> => {
      await find(buyer, id)
      const owner = customerIdOfBuyer(buyer)
      await cancellations.request(id, { role: buyer.kind, id: owner, reason: null }, write)
      return buyerOrderView(await findOwned(owner, id), policy)
    },
    /** See `OrderCommands.list`. */
    list: async (
      { customerId: customer_id }: Pick<CustomerBuyer, 'customerId'>,
      query: PageQuery
    ): Promise<Page<OrderSummaryResponse>> => {
      const page = await readPage(query, {
        name: 'orders',
        filters: customer_id,
        ...newestFirst,
        rows: place => db.rows(repository.listOrdersOfCustomer, { customer_id, ...place }),
        total: () => db.first(repository.countOrdersOfCustomer, { customer_id })
      })
      return { ...page, items: page.items.map(orderSummaryView) }
    }
  }
}
export type OrderService = ReturnType<typeof createOrderService>
