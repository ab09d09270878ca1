import type { BuyerKeys } from '../buyers/service.ts'
import type { CheckoutInput } from '../checkouts/input.ts'
import type { CartSource } from '../checkouts/read-input.ts'
import type { CheckoutRow } from '../checkouts/repository.ts'
import { type OrderPaymentChoice, paymentTermsOf } from '../lifecycle/terms.ts'
import type { OrderPriceRows } from './draft.ts'
import type { PriceAgreement } from './refusals.ts'
import type { NewOrderRow } from './repository.ts'

/** A request for an order. */
export type PurchaseRequest = {
  /** Null: a guest. */
  readonly customerId: string | null
  /** The user who sends the request: the customer, or an administrator for a buyer. Null: a guest. */
  readonly actor: string | null
  readonly input: CheckoutInput
  readonly source: CartSource
  /** The checkout that becomes the order, as it was read. Null: the request has all of the input. */
  readonly checkout: Pick<CheckoutRow, 'id' | 'version'> | null
  /** The client address. Null: an administrator, whose address says nothing about the buyer. */
  readonly address: string | null
  readonly agreement: PriceAgreement
  /** The payment to start. `undefined`: the buyer creates a payment later. */
  readonly payment: OrderPaymentChoice | undefined
}
type Facts = {
  readonly id: string
  readonly number: string
  readonly buyer: BuyerKeys
  /** See `hashClientNetwork`. Null: an administrator orders. */
  readonly network: string | null
  readonly hasPayments: boolean
}

/** The row of a new order: pending, or placed if there is nothing to pay first. Pure. */
export function newOrderRowOf(
  { customerId, input, source, checkout, payment }: PurchaseRequest,
  { totals }: OrderPriceRows,
  { id, number, buyer, network, hasPayments }: Facts
): NewOrderRow {
  const terms = hasPayments ? paymentTermsOf(payment) : 'on_account'
  const isPaid = totals.total === 0
  const isPending = terms === 'prepaid' && !isPaid
  return {
    id,
    number,
    terms,
    ...totals,
    ...source,
    // The key is missing for a guest without an email address, and such a purchase was rejected before.
    buyer: buyer.key ?? '',
    mailbox: buyer.mailbox,
    state: isPending ? 'pending' : 'placed',
    checkout_id: checkout?.id ?? null,
    customer_id: customerId,
    network: isPending ? network : null,
    email: input.email,
    shipping_address: input.shippingAddress,
    billing_address: input.billingAddress,
    note: input.note,
    payment_status: hasPayments ? (isPaid ? 'paid' : 'unpaid') : null
  }
}
