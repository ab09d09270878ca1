import { type CheckoutFinding, newCheckoutFinding } from '../checkouts/findings.ts'
import { type CheckoutInput, orderMetadataOf } from '../checkouts/input.ts'
import type { PricedCheckout } from '../checkouts/price.ts'
import type { PurchaseRefusal, PurchaseToCheck } from './port.ts'

const CODE = /^[A-Z][A-Z0-9_]{0,63}$/
const MESSAGE_LENGTH_MAX = 500
const REFUSALS_MAX = 100

/** Builds what checks see of a purchase: a copy, so that a check cannot change what is ordered. Pure. */
export function purchaseToCheckOf(
  customerId: string | null,
  input: CheckoutInput,
  { sold, market, quote }: PricedCheckout
): PurchaseToCheck {
  const totalOf = new Map(quote.lines.map(({ key, totalMinor }) => [key, totalMinor]))
  return structuredClone({
    buyer: { customerId, email: input.email },
    lines: sold.map(({ id, variantId, quantity, metadata, variant: { productId, sku } }) => ({
      id,
      variantId,
      productId,
      sku,
      quantity,
      metadata,
      totalMinor: totalOf.get(id) ?? 0
    })),
    shippingAddress: input.shippingAddress,
    billingAddress: input.billingAddress,
    metadata: orderMetadataOf(input),
    market: market.code,
    currency: quote.currency,
    totals: quote.totals,
    quoteHash: quote.hash
  })
}

/** Returns why these are not refusals of the purchase, as a sentence; `undefined` when they are. Pure. */
export function findRefusalFault(refusals: unknown, { lines }: PurchaseToCheck): string | undefined {
  if (!Array.isArray(refusals)) return 'A check must return a list.'
  if (refusals.length > REFUSALS_MAX) return `A check must return at most ${REFUSALS_MAX} refusals.`
  for (const refusal of refusals as (Partial<PurchaseRefusal> | null)[]) {
    const { code, message, line } = refusal ?? {}
    if (typeof code !== 'string' || !CODE.test(code))
      return `A refusal has the code ${JSON.stringify(code)}, but a code consists of at most 64 capital letters, digits and underscores.`
    if (typeof message !== 'string' || message.trim() === '' || message.length > MESSAGE_LENGTH_MAX)
      return `The refusal ${code} needs a message of at most ${MESSAGE_LENGTH_MAX} characters.`
    if (line !== undefined && !lines.some(({ id }) => id === line))
      return `The refusal ${code} names the line ${JSON.stringify(line)}, which the purchase does not have.`
  }
  return undefined
}

/** The refusal as a finding, for the buyer. */
export const findingOfRefusal = (
  { code, message, line }: PurchaseRefusal,
  { lines }: PurchaseToCheck
): CheckoutFinding => {
  const variantId = lines.find(({ id }) => id === line)?.variantId
  return newCheckoutFinding('ORDER_NOT_ALLOWED', {
    message,
    checkCode: code,
    ...(line !== undefined && variantId !== undefined && { line, variantId })
  })
}
