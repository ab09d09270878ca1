import type { Component, Quote } from '../../pricing/index.ts'
import { DIGITAL_DELIVERY_GROUP_KEY } from './delivery.ts'
import { type CheckoutFinding, isBlockingFinding } from './findings.ts'
import { findCheckoutInputProblems } from './input-checks.ts'
import type { CheckoutLineForSale } from './lines.ts'
import type { PricedCheckout } from './price.ts'
import type { CheckoutRow } from './repository.ts'
import type { AppliedTaxExemption, CheckoutFindingResponse, CheckoutResponse } from './schema.ts'

/** The response: the stored input and its current price. */
export function checkoutView(
  row: CheckoutRow,
  priced: PricedCheckout,
  isCartChanged: boolean
): CheckoutResponse {
  const { input } = row
  const findings = [...findCheckoutInputProblems(row, priced, isCartChanged), ...priced.findings]
  const status = statusOf(row)
  return {
    id: row.id,
    customer_id: row.customer_id,
    order_id: row.order_id,
    status,
    ready: status === 'open' && !findings.some(isBlockingFinding),
    ...checkoutPriceView(priced),
    findings: findings.map(checkoutFindingView),
    email: input.email,
    shipping_address: input.shippingAddress,
    billing_address: input.billingAddress,
    shipping_option: input.shippingOption,
    codes: [...input.codes],
    note: input.note,
    metadata: input.metadata ?? {},
    version: row.version,
    created_at: row.created_at,
    updated_at: row.updated_at,
    expires_at: row.expires_at
  }
}

function statusOf({ status, is_expired, order_state }: CheckoutRow): CheckoutResponse['status'] {
  if (order_state !== null) return order_state === 'pending' ? 'action_required' : 'completed'
  return status === 'open' && is_expired ? 'expired' : status
}

/** The price and its parts. */
export function checkoutPriceView(priced: PricedCheckout): PriceView {
  const { quote, market, options } = priced
  const { totals } = quote
  const lineOf = new Map(quote.lines.map(line => [line.key, line]))
  return {
    market: market.code,
    currency: quote.currency,
    items: priced.sold.map(line => itemOf(line, lineOf.get(line.id))),
    unavailable_items: priced.unsold.map(({ id, variantId, name, quantity, metadata }) => ({
      id,
      metadata,
      variant_id: variantId,
      name,
      quantity
    })),
    groups: quote.groups.map(group => ({
      id: group.key,
      method: group.key === DIGITAL_DELIVERY_GROUP_KEY ? 'digital' : priced.method,
      shipping_option: group.option,
      options: group.key === DIGITAL_DELIVERY_GROUP_KEY ? [] : options.map(shippingOptionView),
      shipping: group.shippingMinor,
      shipping_discount: group.shippingDiscountMinor,
      tax: group.taxMinor
    })),
    subtotal: totals.subtotalMinor,
    discount_total: totals.discountMinor,
    shipping_total: totals.shippingMinor,
    tax_total: totals.taxMinor,
    tax_added: totals.taxAddedMinor,
    cash_rounding: totals.cashRoundingMinor,
    total: totals.totalMinor,
    discounts: priced.discounts.map(({ promotionId, name, code, amountMinor }) => ({
      promotion_id: promotionId,
      name,
      code,
      amount: amountMinor
    })),
    components: quote.components.map(component =>
      componentOf(component, lineOf.get(component.line ?? '')?.variantId ?? null)
    ),
    tax_summary: quote.taxSummary.map(({ taxCategory, ratePpm, netMinor, taxMinor, grossMinor, exempt }) => ({
      tax_category: taxCategory,
      rate_ppm: ratePpm,
      net: netMinor,
      tax: taxMinor,
      gross: grossMinor,
      exempt: exempt?.reason ?? null
    })),
    tax_exemption: appliedTaxExemptionView(quote),
    quote_hash: quote.hash
  }
}
type PriceView = Pick<
  CheckoutResponse,
  | 'market'
  | 'currency'
  | 'items'
  | 'unavailable_items'
  | 'groups'
  | 'subtotal'
  | 'discount_total'
  | 'shipping_total'
  | 'tax_total'
  | 'tax_added'
  | 'cash_rounding'
  | 'total'
  | 'discounts'
  | 'components'
  | 'tax_summary'
  | 'tax_exemption'
  | 'quote_hash'
>

function itemOf(
  { id, variantId, quantity, metadata, variant }: CheckoutLineForSale,
  line: Quote['lines'][number] | undefined
): CheckoutResponse['items'][number] {
  if (line === undefined) throw new Error(`the quote has no line ${id}`)
  return {
    id,
    metadata,
    variant_id: variantId,
    product_id: variant.productId,
    name: variant.name,
    variant_name: variant.variantName,
    sku: variant.sku,
    slug: variant.slug,
    image_url: variant.imageUrl,
    attributes: variant.attributes,
    quantity,
    unit_price: variant.price.minor,
    discounted_price: variant.price.discountedMinor,
    subtotal: line.subtotalMinor,
    discount: line.discountMinor,
    line_total: line.totalMinor,
    tax: line.taxMinor,
    group: line.group
  }
}

export const shippingOptionView = ({
  id,
  method,
  provider,
  service,
  amountMinor,
  estimatedDays
}: PricedCheckout['options'][number]) => ({
  id,
  method,
  provider,
  service,
  amount: amountMinor,
  estimated_days: estimatedDays
})

const componentOf = (
  component: Component,
  variantId: string | null
): CheckoutResponse['components'][number] => ({
  kind: component.kind,
  item: component.line ?? null,
  variant_id: variantId,
  group: component.group ?? null,
  shipping_option: component.option ?? null,
  promotion_id: component.promotion ?? null,
  code: component.code ?? null,
  tax_category: component.taxCategory ?? null,
  rate_ppm: component.ratePpm ?? null,
  base: component.baseMinor ?? null,
  amount: component.amountMinor,
  included: component.included,
  exempt: component.exempt?.reason ?? null
})

/** The exemption of a quote. Null: no tax is exempt. */
export function appliedTaxExemptionView({ taxSummary }: Quote): AppliedTaxExemption | null {
  const { exempt } = taxSummary.find(each => each.exempt !== undefined) ?? {}
  return exempt === undefined
    ? null
    : { company: exempt.company, vat_id: exempt.vatId, reason: exempt.reason }
}

export function checkoutFindingView(found: CheckoutFinding): CheckoutFindingResponse {
  const { code, message } = found
  const shown = { code, message, blocking: isBlockingFinding(found) }
  if ('promotionCode' in found) {
    const { promotionCode, missing, conflictsWith } = found
    return {
      ...shown,
      promotion_code: promotionCode,
      ...(missing && { missing_amount: missing.amountMinor, missing_quantity: missing.quantity }),
      ...(conflictsWith && { conflicts_with: conflictsWith.map(({ name }) => name) })
    }
  }
  if ('group' in found) return { ...shown, group: found.group }
  const { variantId, available, rule, field, line, checkCode } = found
  return {
    ...shown,
    ...(variantId !== undefined && { variant_id: variantId }),
    ...(available !== undefined && { available }),
    ...(rule && { quantity_min: rule.min, quantity_max: rule.max, quantity_step: rule.step }),
    ...(field !== undefined && { field }),
    ...(line !== undefined && { item: line }),
    ...(checkCode !== undefined && { check_code: checkCode })
  }
}
