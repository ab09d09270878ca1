import { found } from '../../../kernel/errors.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { PaymentsApi } from '../../payments/index.ts'
import type { CancellationService } from '../cancellation/service.ts'
import type { LimitPromotionCodeGuesses } from '../checkouts/code-guesses.ts'
import { cartSourceOf, type ReadCheckoutInput } from '../checkouts/read-input.ts'
import { assertCheckoutOpen, type CheckoutOwner, type CheckoutService } from '../checkouts/service.ts'
import { orderNotFound } from '../errors.ts'
import type { CustomerCancellationPolicy } from '../lifecycle/actions.ts'
import type { OrderPlacement } from '../placement/service.ts'
import * as repository from './repository.ts'
import type {
  CompleteCheckoutRequest,
  OrderRequestBody,
  OrderResponse,
  OrderSummaryResponse
} from './schema.ts'
import { buyerOrderView, orderSummaryView } from './view.ts'

type Deps = {
  db: Database
  checkouts: Pick<CheckoutService, 'find'>
  readCheckoutInput: ReadCheckoutInput
  placement: OrderPlacement
  payments: Pick<PaymentsApi, 'sendOperations'> | undefined
  cancellations: Pick<CancellationService, 'request'>
  limitCodeGuesses: LimitPromotionCodeGuesses
  policy: CustomerCancellationPolicy
}
/** The body of a request for an order, the market that its header or query names, and the client address. */
export type OrderRequestInput = {
  readonly body: OrderRequestBody
  readonly market: string | null
  readonly address: string
}
/** A request to complete a checkout. */
export type CheckoutCompletionInput = {
  readonly id: string
  readonly body: CompleteCheckoutRequest
  readonly address: string
}
/** An order, and whether this request created it. */
export type PlacedOrder = { readonly order: repository.OrderRow; readonly isNew: boolean }

export function createOrderService({
  db,
  checkouts,
  readCheckoutInput,
  placement,
  payments,
  cancellations,
  limitCodeGuesses,
  policy
}: Deps) {
  const toResponse = (order: repository.OrderRow): OrderResponse => buyerOrderView(order, policy)

  /** @throws `ORDER_NOT_FOUND` */
  const find = async (owner: CheckoutOwner, id: string) =>
    found(await db.first(repository.findOrder, { id, customer_id: owner }), orderNotFound)

  /**
   * Returns the order of an earlier attempt of this request. Resumes its payment, because that attempt may
   * not have started it.
   */
  async function repeatResponse(
    owner: CheckoutOwner,
    { id, resultId }: IdempotentWrite
  ): Promise<PlacedOrder> {
    await payments?.sendOperations(resultId)
    return { order: await find(owner, resultId), isNew: resultId === id }
  }

  /** Creates an order. @throws as `placeOrder` and `readCheckoutInput` */
  async function create(
    owner: CheckoutOwner,
    { body, market, address }: OrderRequestInput,
    write: IdempotentWrite
  ): Promise<PlacedOrder> {
    // An earlier attempt has emptied the cart.
    if (write.alreadyApplied) return repeatResponse(owner, write)
    const { items, guest_cart_token } = body
    const isFromCart = owner !== null && items === undefined
    const cartSource = {
      ...(isFromCart && { cart: true as const }),
      ...(guest_cart_token !== undefined && { guest_cart_token })
    }
    const { market: named = market, payment, expected_total: expectedTotal } = body
    const { input, source } = await readCheckoutInput(owner, {
      body: { ...body, ...cartSource },
      market: named
    })
    const agreement = { expectedTotal, quoteHash: undefined }
    const placed = await placement.placeOrder(
      { customerId: owner, actor: owner, input, source, checkout: null, address, agreement, payment },
      write
    )
    return { order: placed.order ?? (await find(owner, placed.id)), isNew: placed.isNew }
  }

  /**
   * Creates an order from a checkout, at the price of its last write or at the expected total. @throws as
   * `placeOrder`
   */
  async function complete(
    owner: CheckoutOwner,
    { id, body, address }: CheckoutCompletionInput,
    write: IdempotentWrite
  ): Promise<PlacedOrder> {
    if (write.alreadyApplied) return repeatResponse(owner, write)
    const checkout = await checkouts.find(owner, id)
    if (checkout.order_id !== null) {
      await write.answerWith(db, checkout.order_id)
      return { order: await find(owner, checkout.order_id), isNew: false }
    }
    assertCheckoutOpen(checkout)
    const { input, cart_id, cart_version } = checkout
    const source = cartSourceOf(cart_id, cart_version)
    const agreement = { expectedTotal: body.expected_total, quoteHash: checkout.quote_hash }
    const { payment } = body
    const purchase = { customerId: owner, actor: owner, input, source, checkout, address, agreement, payment }
    const placed = await limitCodeGuesses(address, { codes: [...input.codes] }, () =>
      placement.placeOrder(purchase, write)
    )
    return { order: placed.order ?? (await find(owner, placed.id)), isNew: placed.isNew }
  }

  return {
    find,
    create,
    complete,
    show: toResponse,
    read: async (owner: CheckoutOwner, id: string): Promise<OrderResponse> =>
      toResponse(await find(owner, id)),
    /** @throws `ORDER_NOT_FOUND`, `ORDER_STALE`, `ORDER_NOT_CANCELABLE` */
    cancel: async (owner: CheckoutOwner, id: string, write: IdempotentWrite): Promise<OrderResponse> => {
      await find(owner, id)
      const role = owner === null ? 'guest' : 'customer'
      await cancellations.request(id, { role, id: owner, reason: null }, write)
      return toResponse(await find(owner, id))
    },
    list: async (customer_id: string, query: PageQuery): Promise<Page<OrderSummaryResponse>> => {
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
