import type { Fault } from '../../../kernel/faults.ts'
import { readDraft, regionFaults } from './addresses.ts'
import { type Finding, finding } from './findings.ts'
import { addressOf, type CheckoutInput, emailOf } from './input.ts'
import type { Priced } from './price.ts'
import type { CheckoutRow } from './repository.ts'

/** What there is to say of a checkout beside its price. */
export function remarksOn(
  row: Pick<CheckoutRow, 'input' | 'customer_id' | 'quote_hash'>,
  priced: Priced,
  isCartChanged: boolean
): Finding[] {
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

/** Customers need not say one: their account has one. */
function emailFindings(input: CheckoutInput, customerId: string | null): Finding[] {
  if (input.email === null) return customerId === null ? [finding('EMAIL_MISSING')] : []
  const message = 'must be an e-mail address, such as ada@example.com'
  return emailOf(input) === null ? [finding('EMAIL_INVALID', { field: 'email', message })] : []
}

/** An address that only says where taxes are paid need not be complete. */
function addressFindings(input: CheckoutInput, priced: Priced): Finding[] {
  const { shippingAddress, billingAddress } = input
  const isSent = priced.method === 'shipping' && priced.sold.some(({ variant }) => variant.requiresShipping)
  const faults = [
    ...(isSent && shippingAddress !== null ? readDraft(shippingAddress, 'shipping_address').faults : []),
    ...(billingAddress !== null ? readDraft(billingAddress, 'billing_address').faults : []),
    ...unclearRegion(input, priced, isSent)
  ]
  // A region may be missing for two reasons.
  const byPath = new Map(faults.map(fault => [fault.path, fault]))
  return [...byPath.values()].map(({ path, message }) => finding('ADDRESS_INVALID', { field: path, message }))
}

/** Where something depends on the region: what is picked up does not. */
function unclearRegion(input: CheckoutInput, { regions, sold }: Priced, isSent: boolean): Fault[] {
  const address = addressOf(input)
  const isDigital = sold.some(({ variant }) => !variant.requiresShipping)
  if (address === null || !(isSent || isDigital)) return []
  const path = input.shippingAddress === null ? 'billing_address' : 'shipping_address'
  return regionFaults(address, regions, path)
}
