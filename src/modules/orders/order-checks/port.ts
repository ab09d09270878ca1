import type { Metadata } from '../../../kernel/metadata.ts'
import { definePort } from '../../../kernel/ports.ts'
import type { Quote } from '../../pricing/index.ts'
import type { AddressDraft } from '../checkouts/addresses.ts'

/**
 * A purchase before it becomes an order, or a checkout. Amounts are minor units of `currency`.
 * @example
 * const unitsOf = ({ lines }: PurchaseToCheck): number => lines.reduce((sum, { quantity }) => sum + quantity, 0)
 */
export type PurchaseToCheck = {
  /** The account and the email address of the request. Nulls: a guest, and an address that is missing or not typed yet. */
  readonly buyer: { readonly customerId: string | null; readonly email: string | null }
  /** Lines that can be bought, in the order of the request. */
  readonly lines: readonly LineToCheck[]
  /** Null: none. It may be incomplete in a checkout, because the buyer is still typing. */
  readonly shippingAddress: AddressDraft | null
  readonly billingAddress: AddressDraft | null
  /** The public metadata that the order gets. */
  readonly metadata: Metadata
  /** The code of the market. */
  readonly market: string
  readonly currency: string
  readonly totals: Quote['totals']
  /** The order is rejected when its price, items or quantities have another hash. */
  readonly quoteHash: string
}
type LineToCheck = {
  readonly id: string
  readonly variantId: string
  readonly productId: string
  readonly sku: string
  readonly quantity: number
  /** Data of the client, such as an engraving. */
  readonly metadata: Metadata
  /** After all discounts, without tax that is added. */
  readonly totalMinor: number
}

/**
 * Why a purchase must not become an order.
 * @example
 * const refusal: PurchaseRefusal = { code: 'AGE_MISSING', message: 'Confirm that you are an adult.' }
 */
export type PurchaseRefusal = {
  /** For programs: capital letters, digits and underscores, at most 64. */
  readonly code: string
  /** For the buyer: what is wrong, and what to do. At most 500 characters. */
  readonly message: string
  /** The id of the line that it is about. Absent: the whole purchase. */
  readonly line?: string
}

/**
 * Returns why a purchase must not become an order; an empty list when it may. It is called for each response with an open
 * checkout and before each order, at most two seconds, outside of transactions. So it must be quick and change nothing. It
 * may call other servers with `signal`, which is aborted at the timeout.
 * @example
 * const requireAge: OrderCheck = async ({ metadata }) =>
 *   metadata.age_confirmed === 'yes' ? [] : [{ code: 'AGE_MISSING', message: 'Confirm that you are an adult.' }]
 */
export type OrderCheck = (
  purchase: PurchaseToCheck,
  signal: AbortSignal
) => Promise<readonly PurchaseRefusal[]>

/** Checks before an order. Any number of modules provide one. */
export const orderCheckPort = definePort<OrderCheck>('orders.before_place', {
  description: 'Checks that can stop an order before it is placed, such as the age of the buyer.',
  providers: 'many'
})
