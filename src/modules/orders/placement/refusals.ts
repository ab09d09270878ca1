import type { DomainError } from '../../../kernel/errors.ts'
import type { CheckoutFinding } from '../checkouts/findings.ts'
import type { PricedCheckout } from '../checkouts/price.ts'
import { checkoutFindingView, checkoutPriceView, shippingOptionView } from '../checkouts/view.ts'
import {
  marketDoesNotDeliverError,
  orderIncompleteError,
  orderItemsUnavailableError,
  orderPriceChangedError,
  promotionCodesWithoutEffectError,
  shippingNotAvailableError
} from '../errors.ts'
import type { OrderToPlace } from './purchase.ts'

const UNAVAILABLE: readonly string[] = ['VARIANT_UNAVAILABLE', 'VARIANT_NOT_IN_MARKET', 'QUANTITY_RULE']
const NOT_DELIVERABLE: readonly string[] = ['SHIPPING_NOT_AVAILABLE', 'SHIPPING_CHOICE_GONE']
const WITHOUT_ADDRESS: readonly string[] = ['ADDRESS_MISSING', 'SHIPPING_DESTINATION_MISSING']

/**
 * Returns the error if the purchase cannot be ordered, or not at the agreed price; otherwise `undefined`. Pure. It
 * ignores stock and cart changes, because both can change until the order is inserted.
 */
export function findOrderPlacementError(
  priced: PricedCheckout,
  remarks: readonly CheckoutFinding[],
  { expectedTotal, checkout }: Pick<OrderToPlace, 'expectedTotal' | 'checkout'>
): DomainError | undefined {
  const quoteHash = checkout?.quote_hash
  // The request that completes a checkout has no fields of the checkout, so an error names none.
  const path = checkout === null ? 'body/' : ''
  const findings = [...remarks, ...priced.findings]
  const of = (codes: readonly string[]) => findings.filter(({ code }) => codes.includes(code))
  const errors = findings.flatMap(found => faultOf(found, path))
  if (errors.length > 0) return orderIncompleteError({ details: { errors } })
  if (of(['MARKET_DESTINATION']).length > 0)
    return marketDoesNotDeliverError({ details: { market: priced.market.code } })
  const unavailable = of(UNAVAILABLE)
  if (unavailable.length > 0)
    return orderItemsUnavailableError({ details: { items: unavailable.map(checkoutFindingView) } })
  if (of(NOT_DELIVERABLE).length > 0)
    return shippingNotAvailableError({ details: { options: priced.options.map(shippingOptionView) } })
  const { totals, hash } = priced.quote
  const isAgreed =
    expectedTotal === undefined ? (quoteHash ?? hash) === hash : expectedTotal === totals.totalMinor
  // A checkout does not show these findings, so a changed price alone would not explain the difference.
  const hidden = of(['CODE_NOT_FOR_CUSTOMER'])
  if (!isAgreed && hidden.length > 0)
    return promotionCodesWithoutEffectError({ details: { findings: hidden.map(checkoutFindingView) } })
  if (!isAgreed)
    return orderPriceChangedError({
      details: { quote: checkoutPriceView(priced), findings: findings.map(checkoutFindingView) }
    })
  const codes = findings.filter(({ code }) => code.startsWith('CODE_'))
  const isShown = expectedTotal !== undefined || quoteHash !== undefined
  if (codes.length > 0 && !isShown)
    return promotionCodesWithoutEffectError({ details: { findings: codes.map(checkoutFindingView) } })
  return undefined
}

/** Findings of codes that depend on earlier orders of the buyer. */
const FROM_HISTORY: readonly string[] = ['CODE_FIRST_ORDER_ONLY', 'CODE_CUSTOMER_LIMIT']
/** The finding that pricing returns for a code of another customer group. */
const NOT_FOR_CUSTOMER = {
  code: 'CODE_NOT_FOR_CUSTOMER',
  message: 'This code is for other customers.'
} as const

/**
 * Replaces findings that depend on earlier orders by the finding for other customer groups. So a
 * stranger who types an email address cannot tell whether its owner has bought.
 */
export const hidePurchaseHistoryFindings = (priced: PricedCheckout): PricedCheckout => ({
  ...priced,
  findings: priced.findings.map(found =>
    'promotionCode' in found && FROM_HISTORY.includes(found.code)
      ? { ...NOT_FOR_CUSTOMER, promotionCode: found.promotionCode }
      : found
  )
})

function faultOf(found: CheckoutFinding, path: string): { path: string; message: string }[] {
  const { code, message } = found
  if (code === 'EMAIL_MISSING') return [{ path: `${path}email`, message: 'is required' }]
  if (WITHOUT_ADDRESS.includes(code)) return [{ path: `${path}shipping_address`, message: 'is required' }]
  return 'field' in found && found.field !== undefined ? [{ path: path + found.field, message }] : []
}
