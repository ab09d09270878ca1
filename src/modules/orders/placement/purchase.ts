import { actorIdOfBuyer, type Buyer, customerIdOfBuyer } from '../buyers/buyer.ts'
import type { BuyerLimitKeys } from '../buyers/service.ts'
import { type CheckoutInput, orderMetadataOf } from '../checkouts/input.ts'
import type { PlaceOrderInput } from '../checkouts/place-order.ts'
import type { PricedCheckout } from '../checkouts/price.ts'
import type { CheckoutRow } from '../checkouts/repository.ts'
import {
  isDeferredPaymentMethod,
  paymentTermsOfMethod,
  paymentTimeoutSecondsOf,
  type UnpaidOrderTimeoutSeconds
} from '../lifecycle/terms.ts'
import type { NamedTender } from '../tenders/service.ts'
import { orderRowsOfPricedCheckout } from './order-rows.ts'
import type { NewOrderRow } from './repository.ts'

/** An order to create: its buyer, the input as it is stored, and the price that the buyer agreed to. */
export type OrderToPlace = {
  readonly buyer: Buyer
  readonly input: CheckoutInput
  /** Id and version of the cart from which the lines were read. Nulls: the lines come from the request. */
  readonly source: Pick<CheckoutRow, 'cart_id' | 'cart_version'>
  /**
   * The checkout that is completed, as it was read. Null: the order is created without a checkout, so the
   * request has all input.
   */
  readonly checkout: Pick<CheckoutRow, 'id' | 'version' | 'quote_hash'> | null
  /** The total that the buyer has seen. `undefined`: the request does not state a total. */
  readonly expectedTotal: PlaceOrderInput['expected_total']
  /** The payment to start. `undefined`: the buyer creates a payment later. */
  readonly payment: PlaceOrderInput['payment']
  /** Gift cards and the like that cover a part or all of the total. */
  readonly tenders: readonly NamedTender[]
}

/**
 * Builds the rows of an order from its purchase and price. It is pending, or placed if there is nothing to pay first.
 * `network`: see `networkOf`; null: it is unknown. Pure.
 */
export function newOrderRowOf(
  purchase: OrderToPlace,
  priced: PricedCheckout,
  {
    id,
    number,
    keys,
    network,
    hasPayments,
    paymentTimeouts,
    tenderedMinor
  }: {
    readonly id: string
    readonly number: string
    readonly keys: BuyerLimitKeys
    readonly network: string | null
    readonly hasPayments: boolean
    readonly paymentTimeouts: UnpaidOrderTimeoutSeconds
    /** What tenders cover of the total. */
    readonly tenderedMinor: number
  }
): NewOrderRow {
  const { buyer, input, source, checkout, payment } = purchase
  const rows = orderRowsOfPricedCheckout(priced)
  const terms = hasPayments ? paymentTermsOfMethod(payment) : 'on_account'
  const isPaid = rows.total === tenderedMinor
  const isPending = terms === 'prepaid' && !isPaid
  // Orders of administrators reserve stock without a limit, as if they were paid.
  const isDeferred =
    hasPayments && !isPaid && buyer.kind !== 'assisted' && isDeferredPaymentMethod(payment?.method)
  const flags = { isVerified: isDeferred && keys.isVerified, isDeferred }
  return {
    ...rows,
    tendered: tenderedMinor,
    id,
    number,
    terms,
    cart_id: source.cart_id,
    cart_version: source.cart_version,
    // Only a guest without an email address has no buyer key, and such a purchase was rejected before.
    buyer: keys.key ?? '',
    mailbox: keys.mailbox,
    state: isPending ? 'pending' : 'placed',
    checkout_id: checkout?.id ?? null,
    customer_id: customerIdOfBuyer(buyer),
    network: isPending ? network : null,
    email: input.email,
    shipping_address: input.shippingAddress,
    billing_address: input.billingAddress,
    note: input.note,
    metadata: orderMetadataOf(input),
    payment_status: hasPayments ? (isPaid ? 'paid' : 'unpaid') : null,
    actor: actorIdOfBuyer(buyer),
    payment_timeout_seconds: paymentTimeoutSecondsOf([payment?.method], paymentTimeouts, flags),
    is_deferred: isDeferred,
    is_buyer_verified: flags.isVerified
  }
}
