import type { FieldFault } from '../../../kernel/faults.ts'
import { readDraft, regionFaults } from './addresses.ts'
import { type CheckoutFinding, finding } from './findings.ts'
import { addressOf, type CheckoutInput, emailOf } from './input.ts'
import type { PricedCheckout } from './price.ts'
import type { CheckoutRow } from './repository.ts'

/** Finds what is wrong with the input of a checkout: market, cart, email address, addresses. */
export function checkInput(
  row: Pick<CheckoutRow, 'input' | 'customer_id' | 'quote_hash'>,
  priced: PricedCheckout,
  isCartChanged: boolean
): CheckoutFinding[] {
  const { input } = row
  const { marketProblem } = priced
  return [
    ...(marketProblem === undefined ? [] : [finding(marketProblem)]),
    ...(isCartChanged ? [finding('CART_CHANGED')] : []),
    ...(priced.quote.hash === row.quote_hash ? [] : [finding('PRICE_CHANGED')]),
    ...emailFindings(input, row.customer_id),
    ...addressFindings(input, priced)
  ]
}

/** Customers may omit the email address, because their account has one. */
function emailFindings(input: CheckoutInput, customerId: string | null): CheckoutFinding[] {
  if (input.email === null) return customerId === null ? [finding('EMAIL_MISSING')] : []
  const message = 'must be an e-mail address, such as ada@example.com'
  return emailOf(input) === null ? [finding('EMAIL_INVALID', { field: 'email', message })] : []
}

/** An address may be incomplete if it only selects the taxes. */
function addressFindings(input: CheckoutInput, priced: PricedCheckout): CheckoutFinding[] {
  const { shippingAddress, billingAddress } = input
  const isSent = priced.method === 'shipping' && priced.sold.some(({ variant }) => variant.requiresShipping)
  const faults = [
    ...(isSent && shippingAddress !== null ? readDraft(shippingAddress, 'shipping_address').faults : []),
    ...(billingAddress !== null ? readDraft(billingAddress, 'billing_address').faults : []),
    ...regionFaultsOf(input, priced, isSent)
  ]
  // A missing region is reported once, although both checks can find it.
  const byPath = new Map(faults.map(fault => [fault.path, fault]))
  return [...byPath.values()].map(({ path, message }) => finding('ADDRESS_INVALID', { field: path, message }))
}

/**
 * The faults of a region on which taxes or shipping options depend. Goods that are picked up depend on none.
 */
function regionFaultsOf(
  input: CheckoutInput,
  { regions, sold }: PricedCheckout,
  isSent: boolean
): FieldFault[] {
  const address = addressOf(input)
  const isDigital = sold.some(({ variant }) => !variant.requiresShipping)
  if (address === null || !(isSent || isDigital)) return []
  const path = input.shippingAddress === null ? 'billing_address' : 'shipping_address'
  return regionFaults(address, regions, path)
}
