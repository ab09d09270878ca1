import type { FieldFault } from '../../../kernel/faults.ts'
import { addressRegionFaults, readAddressDraft } from './addresses.ts'
import { type CheckoutFinding, newCheckoutFinding } from './findings.ts'
import { type CheckoutInput, shippingOrBillingAddressOf, validCheckoutEmailOrNull } from './input.ts'
import type { PricedCheckout } from './price.ts'
import type { CheckoutRow } from './repository.ts'

/** Finds what is wrong with the input of a checkout: market, cart, email address, addresses. */
export function findCheckoutInputProblems(
  row: Pick<CheckoutRow, 'input' | 'customer_id' | 'quote_hash'>,
  priced: PricedCheckout,
  isCartChanged: boolean
): CheckoutFinding[] {
  const { input } = row
  const { marketProblem } = priced
  return [
    ...(marketProblem === undefined ? [] : [newCheckoutFinding(marketProblem)]),
    ...(isCartChanged ? [newCheckoutFinding('CART_CHANGED')] : []),
    ...(priced.quote.hash === row.quote_hash ? [] : [newCheckoutFinding('PRICE_CHANGED')]),
    ...emailFindings(input, row.customer_id),
    ...addressFindings(input, priced)
  ]
}

/** Customers may omit the email address, because their account has one. */
function emailFindings(input: CheckoutInput, customerId: string | null): CheckoutFinding[] {
  if (input.email === null) return customerId === null ? [newCheckoutFinding('EMAIL_MISSING')] : []
  const message = 'must be an e-mail address, such as ada@example.com'
  return validCheckoutEmailOrNull(input) === null
    ? [newCheckoutFinding('EMAIL_INVALID', { field: 'email', message })]
    : []
}

/** An address may be incomplete if it only selects the taxes. */
function addressFindings(input: CheckoutInput, priced: PricedCheckout): CheckoutFinding[] {
  const { shippingAddress, billingAddress } = input
  const isSent = priced.method === 'shipping' && priced.sold.some(({ variant }) => variant.requiresShipping)
  const faults = [
    ...(isSent && shippingAddress !== null
      ? readAddressDraft(shippingAddress, 'shipping_address').faults
      : []),
    ...(billingAddress !== null ? readAddressDraft(billingAddress, 'billing_address').faults : []),
    ...regionFaultsOf(input, priced, isSent)
  ]
  // A missing region is reported once, although both checks can find it.
  const byPath = new Map(faults.map(fault => [fault.path, fault]))
  return [...byPath.values()].map(({ path, message }) =>
    newCheckoutFinding('ADDRESS_INVALID', { field: path, message })
  )
}

/**
 * The faults of a region on which taxes or shipping options depend. Goods that are picked up depend on none.
 */
function regionFaultsOf(
  input: CheckoutInput,
  { regions, sold }: PricedCheckout,
  isSent: boolean
): FieldFault[] {
  const address = shippingOrBillingAddressOf(input)
  const isDigital = sold.some(({ variant }) => !variant.requiresShipping)
  if (address === null || !(isSent || isDigital)) return []
  const path = input.shippingAddress === null ? 'billing_address' : 'shipping_address'
  return addressRegionFaults(address, regions, path)
}
