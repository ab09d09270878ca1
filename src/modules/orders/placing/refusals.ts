import type { DomainError } from '../../../kernel/errors.ts'
import type { Finding } from '../checkouts/findings.ts'
import type { Priced } from '../checkouts/price.ts'
import { findingOf, optionOf, priceView } from '../checkouts/view.ts'
import {
  codeRefused,
  itemsUnavailable,
  marketDestination,
  orderIncomplete,
  priceChanged,
  shippingNotAvailable
} from '../errors.ts'

/** What a buyer has agreed to pay. */
export type Agreement = {
  /** The total that they were shown; `undefined`: they did not say. */
  readonly expectedTotal: number | undefined
  /** The price that they were shown; `undefined`: none. */
  readonly quoteHash: string | undefined
}

const UNAVAILABLE: readonly string[] = ['VARIANT_UNAVAILABLE', 'VARIANT_NOT_IN_MARKET', 'QUANTITY_RULE']
const UNDELIVERED: readonly string[] = ['SHIPPING_NOT_AVAILABLE', 'SHIPPING_CHOICE_GONE']
const NOWHERE: readonly string[] = ['ADDRESS_MISSING', 'SHIPPING_DESTINATION_MISSING']

/**
 * Why it cannot be ordered like this, or at this price; `undefined` when it can. Pure. How many there are is not judged here, nor
 * whether the cart is still the same: both may change until the order is there. `path`: where in the request its fields stand.
 */
export function refusalOf(
  priced: Priced,
  remarks: readonly Finding[],
  { expectedTotal, quoteHash }: Agreement,
  path: string
): DomainError | undefined {
  const findings = [...remarks, ...priced.findings]
  const of = (codes: readonly string[]) => findings.filter(({ code }) => codes.includes(code))
  const errors = findings.flatMap(found => faultOf(found, path))
  if (errors.length > 0) return orderIncomplete({ details: { errors } })
  if (of(['MARKET_DESTINATION']).length > 0)
    return marketDestination({ details: { market: priced.market.code } })
  const unavailable = of(UNAVAILABLE)
  if (unavailable.length > 0) return itemsUnavailable({ details: { items: unavailable.map(findingOf) } })
  if (of(UNDELIVERED).length > 0)
    return shippingNotAvailable({ details: { options: priced.options.map(optionOf) } })
  const { totals, hash } = priced.quote
  const isAgreed =
    expectedTotal === undefined ? (quoteHash ?? hash) === hash : expectedTotal === totals.totalMinor
  // No checkout shows these, so a new price alone would not explain itself.
  const hidden = of(['CODE_NOT_FOR_CUSTOMER'])
  if (!isAgreed && hidden.length > 0) return codeRefused({ details: { findings: hidden.map(findingOf) } })
  if (!isAgreed)
    return priceChanged({ details: { quote: priceView(priced), findings: findings.map(findingOf) } })
  const codes = findings.filter(({ code }) => code.startsWith('CODE_'))
  const isShown = expectedTotal !== undefined || quoteHash !== undefined
  if (codes.length > 0 && !isShown) return codeRefused({ details: { findings: codes.map(findingOf) } })
  return undefined
}

/** Problems of codes that depend on what the buyer has ordered before. */
const OF_HISTORY: readonly string[] = ['CODE_FIRST_ORDER_ONLY', 'CODE_CUSTOMER_LIMIT']
/** As pricing describes a code for a group of customers. */
const NOT_FOR_CUSTOMER = {
  code: 'CODE_NOT_FOR_CUSTOMER',
  message: 'This code is for other customers.'
} as const

/**
 * Gives codes that the buyer has used up the problem of codes for other customers, so that a stranger who types an e-mail address
 * cannot tell whether it has bought.
 */
export const withoutHistory = (priced: Priced): Priced => ({
  ...priced,
  findings: priced.findings.map(found =>
    'promotionCode' in found && OF_HISTORY.includes(found.code)
      ? { ...NOT_FOR_CUSTOMER, promotionCode: found.promotionCode }
      : found
  )
})

function faultOf(found: Finding, path: string): { path: string; message: string }[] {
  const { code, message } = found
  if (code === 'EMAIL_MISSING') return [{ path: `${path}email`, message: 'is required' }]
  if (NOWHERE.includes(code)) return [{ path: `${path}shipping_address`, message: 'is required' }]
  return 'field' in found && found.field !== undefined ? [{ path: path + found.field, message }] : []
}
