import { found } from '../../../kernel/errors.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { PaymentsApi } from '../../payments/index.ts'
import type { Cancellations } from '../cancel/service.ts'
import type { Guesses } from '../checkouts/guesses.ts'
import { type Intake, sourceOf } from '../checkouts/intake.ts'
import { type CheckoutService, type Owner, refuseUnlessOpen } from '../checkouts/service.ts'
import { orderNotFound } from '../errors.ts'
import type { CustomerCancel } from '../life/actions.ts'
import type { Placing } from '../placing/service.ts'
import * as repository from './repository.ts'
import type { CompleteCheckoutRequest, OrderBody, OrderResponse, OrderSummaryResponse } from './schema.ts'
import { summaryOf, viewOf } from './view.ts'

type Deps = {
  db: Database
  checkouts: Pick<CheckoutService, 'find'>
  intake: Intake
  placing: Placing
  payments: Pick<PaymentsApi, 'proceed'> | undefined
  cancellations: Pick<Cancellations, 'request'>
  guesses: Guesses
  policy: CustomerCancel
}
/** What a client orders, the market that the request names, and the address that it comes from. */
export type Ordered = { readonly body: OrderBody; readonly market: string | null; readonly address: string }
/** A checkout that is to be ordered, and what is said of that. */
export type Completed = {
  readonly id: string
  readonly body: CompleteCheckoutRequest
  readonly address: string
}
/** An order, and whether this request has made it. */
export type Placed = { readonly order: repository.OrderRow; readonly isNew: boolean }

export function createOrderService({
  db,
  checkouts,
  intake,
  placing,
  payments,
  cancellations,
  guesses,
  policy
}: Deps) {
  const show = (order: repository.OrderRow): OrderResponse => viewOf(order, policy)

  /** @throws `ORDER_NOT_FOUND` */
  const find = async (owner: Owner, id: string) =>
    found(await db.first(repository.findOrder, { id, customer_id: owner }), orderNotFound)

  /** What an earlier try of this request has made; whoever is to be paid may not have been asked. */
  async function again(owner: Owner, { id, resultId }: Write): Promise<Placed> {
    await payments?.proceed(resultId)
    return { order: await find(owner, resultId), isNew: resultId === id }
  }

  /** Orders what the client says; see `Placing` and `createIntake` for what it throws. */
  async function create(owner: Owner, { body, market, address }: Ordered, write: Write): Promise<Placed> {
    // The cart of an earlier try is empty by now.
    if (write.alreadyApplied) return again(owner, write)
    const { items, guest_cart_token } = body
    const isOfCart = owner !== null && items === undefined
    const of = {
      ...(isOfCart && { cart: true as const }),
      ...(guest_cart_token !== undefined && { guest_cart_token })
    }
    const { market: named = market, payment, expected_total: expectedTotal } = body
    const { input, source } = await intake(owner, { body: { ...body, ...of }, market: named })
    const agreement = { expectedTotal, quoteHash: undefined }
    const placed = await placing.place(
      { customerId: owner, actor: owner, input, source, checkout: null, address, agreement, payment },
      write
    )
    return { order: placed.order ?? (await find(owner, placed.id)), isNew: placed.isNew }
  }

  /** Orders what a checkout says, at the price that it was answered with, or at the total that the buyer was shown. */
  async function complete(owner: Owner, { id, body, address }: Completed, write: Write): Promise<Placed> {
    if (write.alreadyApplied) return again(owner, write)
    const checkout = await checkouts.find(owner, id)
    if (checkout.order_id !== null) {
      await write.answerWith(db, checkout.order_id)
      return { order: await find(owner, checkout.order_id), isNew: false }
    }
    refuseUnlessOpen(checkout)
    const { input, cart_id, cart_version } = checkout
    const source = sourceOf(cart_id, cart_version)
    const agreement = { expectedTotal: body.expected_total, quoteHash: checkout.quote_hash }
    const { payment } = body
    const purchase = { customerId: owner, actor: owner, input, source, checkout, address, agreement, payment }
    const placed = await guesses(address, { codes: [...input.codes] }, () => placing.place(purchase, write))
    return { order: placed.order ?? (await find(owner, placed.id)), isNew: placed.isNew }
  }

  return {
    find,
    create,
    complete,
    show,
    read: async (owner: Owner, id: string): Promise<OrderResponse> => show(await find(owner, id)),
    /** @throws `ORDER_NOT_FOUND`, `ORDER_STALE`, `ORDER_NOT_CANCELABLE` */
    cancel: async (owner: Owner, id: string, write: Write): Promise<OrderResponse> => {
      await find(owner, id)
      const role = owner === null ? 'guest' : 'customer'
      await cancellations.request(id, { role, actor: owner, reason: null }, write)
      return show(await find(owner, id))
    },
    list: async (customer_id: string, query: PageQuery): Promise<Page<OrderSummaryResponse>> => {
      const page = await readPage(query, {
        name: 'orders',
        filters: customer_id,
        ...newestFirst,
        rows: place => db.rows(repository.listOrders, { customer_id, ...place }),
        total: () => db.first(repository.countOrders, { customer_id })
      })
      return { ...page, items: page.items.map(summaryOf) }
    }
  }
}
export type OrderService = ReturnType<typeof createOrderService>
