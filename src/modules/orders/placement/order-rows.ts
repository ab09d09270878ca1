import { isEmptyMetadata } from '../../../kernel/metadata.ts'
import type { ShippingOption } from '../../shipping/index.ts'
import { DIGITAL_DELIVERY_GROUP_KEY } from '../checkouts/delivery.ts'
import type { CheckoutLineForSale } from '../checkouts/lines.ts'
import type { PricedCheckout } from '../checkouts/price.ts'
import { appliedTaxExemptionView } from '../checkouts/view.ts'
import type { OrderLineQuantity } from '../lifecycle/counters.ts'
import type { NewOrderLineRow } from '../lifecycle/line-columns.ts'
import type { NewOrderRow } from './repository.ts'

/** Builds the database rows of a new order from the calculated price. Pure. */
export function orderRowsOfPricedCheckout({
  market,
  sold,
  method,
  options,
  quote,
  taxEngine,
  discounts
}: PricedCheckout) {
  const groupOf = new Map(quote.lines.map(({ key, group }) => [key, group]))
  const lines = sold.map((line, index) =>
    lineOf(line, index + 1, groupOf.get(line.id) ?? DIGITAL_DELIVERY_GROUP_KEY)
  )
  const numberOf = new Map(lines.map(({ id, line }) => [id, line]))
  const titleOf = new Map(discounts.map(({ promotionId, name }) => [promotionId, name]))
  const { totals } = quote
  return {
    lines,
    groups: quote.groups.map(({ key, option: chosen }) => {
      const option = options.find(({ id }) => id === chosen)
      return {
        group_key: key,
        method: key === DIGITAL_DELIVERY_GROUP_KEY ? 'digital' : method,
        option: option === undefined ? null : snapshotOf(option)
      }
    }),
    components: quote.components.map((component, position) => ({
      position,
      kind: component.kind,
      line: component.line === undefined ? null : (numberOf.get(component.line) ?? null),
      group_key: component.group ?? null,
      promotion_id: component.promotion ?? null,
      title: component.promotion === undefined ? null : (titleOf.get(component.promotion) ?? null),
      code: component.code ?? null,
      option_id: component.option ?? null,
      amount: component.amountMinor,
      base: component.baseMinor ?? null,
      rate_ppm: component.ratePpm ?? null,
      tax_category: component.taxCategory ?? null,
      exempt: component.exempt?.reason ?? null,
      included: component.included
    })),
    market: market.code,
    currency: quote.currency,
    subtotal: totals.subtotalMinor,
    discount_total: totals.discountMinor,
    shipping_total: totals.shippingMinor,
    tax_total: totals.taxMinor,
    tax_added: totals.taxAddedMinor,
    cash_rounding: totals.cashRoundingMinor,
    total: totals.totalMinor,
    tax_exemption: appliedTaxExemptionView(quote),
    tax_engine: taxEngine && { name: taxEngine.name, is_fallback: taxEngine.isFallback },
    fulfillment_status: lines.some(line => line.requires_shipping) ? 'none' : 'not_required'
  } satisfies Partial<NewOrderRow>
}

const lineOf = (
  { id, variantId, quantity, metadata, variant }: CheckoutLineForSale,
  line: number,
  group_key: string
): NewOrderLineRow => ({
  line,
  id,
  group_key,
  variant_id: variantId,
  product_id: variant.productId,
  sku: variant.sku,
  name: variant.name,
  variant_name: variant.variantName,
  slug: variant.slug,
  image_url: variant.imageUrl,
  attributes: variant.attributes,
  requires_shipping: variant.requiresShipping,
  weight_grams: variant.weightGrams,
  unit_price: variant.price.minor,
  discounted_price: variant.price.discountedMinor,
  ordered: quantity,
  metadata: isEmptyMetadata(metadata) ? null : metadata
})

const snapshotOf = ({ id, provider, service, estimatedDays }: PricedCheckout['options'][number]) => ({
  id,
  provider,
  service,
  estimated_days: estimatedDays
})

/** The delivery groups with a chosen shipping option, and their lines. */
export const deliveryGroupsWithShippingOption = (
  { quote, options }: PricedCheckout,
  { lines }: Pick<NewOrderRow, 'lines'>
): { key: string; option: ShippingOption; lines: OrderLineQuantity[] }[] =>
  quote.groups.flatMap(({ key, option: chosen }) =>
    options
      .filter(({ id }) => id === chosen)
      .map(option => ({
        key,
        option,
        lines: lines
          .filter(({ group_key }) => group_key === key)
          .map(({ line, ordered }) => ({ line, quantity: ordered }))
      }))
  )
