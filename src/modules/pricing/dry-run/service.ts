import { regionsOfAreas } from '../../../kernel/areas.ts'
import { addressRegionFault } from '../../../kernel/regions.ts'
import { sumBy } from '../../../kernel/sum-by.ts'
import { shippingOptionUnknownError, taxRegionInvalidError } from '../errors.ts'
import type { MarketDirectory } from '../markets/directory.ts'
import type { PriceComponent } from '../quote/components.ts'
import type { QuoteInput, QuoteLine, QuoteShippingOption } from '../quote/input.ts'
import { computeQuote } from '../quote/quote.ts'
import type { ReadQuoteRules } from '../quote-rules/service.ts'
import type {
  ExplainedPromotionCodeFinding,
  ExplainPromotionCodeFindingsToAdmin
} from './finding-explainer.ts'
import type { PromotionDryRunRequest, PromotionDryRunResponse } from './schema.ts'

const GROUP = 'all'
/** The id of omitted products, which no promotion matches. */
const UNKNOWN_ID = ''

type Deps = {
  markets: MarketDirectory
  readRules: ReadQuoteRules
  explain: ExplainPromotionCodeFindingsToAdmin
}

/** Quotes a hypothetical basket and explains codes without effect. Changes nothing. */
export const createPromotionDryRunService = ({ markets, readRules, explain }: Deps) => ({
  /** @throws `PRICING_MARKET_UNKNOWN`, `PRICING_TAX_REGION_INVALID`, `PRICING_SHIPPING_OPTION_UNKNOWN`, `PRICING_QUOTE_TOO_LARGE` */
  async run(body: PromotionDryRunRequest): Promise<PromotionDryRunResponse> {
    const { codes = [], customer_id: customer = null, destination } = body
    const market = await markets.resolve({ name: body.market, country: destination?.country })
    const { buyer, ...rules } = await readRules({ codes, customer })
    if (destination !== undefined) assertRegion(destination, rules)
    const options = optionsOf(body)
    const input: QuoteInput = {
      market,
      lines: body.lines.map(lineOf),
      groups: [groupOf(body)],
      codes,
      buyer: {
        ...buyer,
        group: null,
        isFirstOrder: body.first_order ?? buyer.isFirstOrder
      },
      rules: { ...rules, ratesOf: () => options },
      now: body.at === undefined ? Date.now() : Date.parse(body.at)
    }
    const quoted = computeQuote(input)
    const { totals, components } = quoted
    const promotionOf = new Map(rules.promotions.map(promotion => [promotion.id, promotion]))
    return {
      market: market.code,
      currency: quoted.currency,
      lines: quoted.lines.map(line => ({
        index: indexOf(line.key),
        subtotal: line.subtotalMinor,
        discount: line.discountMinor,
        tax: line.taxMinor,
        total: line.totalMinor
      })),
      subtotal: totals.subtotalMinor,
      discount: totals.discountMinor,
      shipping: totals.shippingMinor,
      tax: totals.taxMinor,
      cash_rounding: totals.cashRoundingMinor,
      total: totals.totalMinor,
      components: components.map(presentComponent),
      findings: (await explain(quoted.findings, input)).map(presentFinding),
      applied: quoted.redemptions.map(({ promotionId, code }) => ({
        promotion_id: promotionId,
        name: promotionOf.get(promotionId)?.name ?? '',
        code: code ?? null,
        amount: 0 - sumBy(components, each => (each.promotion === promotionId ? each.amountMinor : 0))
      }))
    }
  }
})
export type PromotionDryRunService = ReturnType<typeof createPromotionDryRunService>

/**
 * Validates the region of the destination if taxes depend on regions there. @throws
 * `PRICING_TAX_REGION_INVALID`
 */
function assertRegion(
  { country, region }: NonNullable<PromotionDryRunRequest['destination']>,
  { taxZones }: Pick<QuoteInput['rules'], 'taxZones'>
): void {
  const named = regionsOfAreas((taxZones.get(country) ?? []).map(({ area }) => area))
  const message = addressRegionFault(country, region, named)
  if (region !== undefined && message !== undefined)
    throw taxRegionInvalidError({ details: { errors: [{ path: 'body/destination/region', message }] } })
}

/** Keys that sort in the order of the request. */
const keyOf = (index: number) => String(index).padStart(4, '0')
const indexOf = (key: string) => Number(key)

function lineOf(line: PromotionDryRunRequest['lines'][number], index: number): QuoteLine {
  const { price, discounted_price = price } = line
  return {
    key: keyOf(index),
    // Lines without a variant are different ones, so their prices are not added up before rounding.
    variantId: line.variant_id ?? keyOf(index),
    productId: line.product_id ?? UNKNOWN_ID,
    categoryIds: line.category_ids ?? [],
    quantity: line.quantity,
    priceMinor: price,
    discountedPriceMinor: Math.min(price, discounted_price),
    taxCategory: line.tax_category ?? null,
    requiresShipping: true,
    weightGrams: 0,
    group: GROUP
  }
}

const groupOf = ({
  destination,
  shipping_options: options = [],
  shipping_option
}: PromotionDryRunRequest): QuoteInput['groups'][number] => ({
  key: GROUP,
  // Method `pickup` needs no destination, so options work without one.
  method: options.length === 0 ? 'digital' : 'pickup',
  destination:
    destination === undefined
      ? null
      : {
          country: destination.country,
          region: destination.region ?? null,
          postalCode: destination.postal_code ?? null
        },
  choice: shipping_option ?? null
})

/** @throws `PRICING_SHIPPING_OPTION_UNKNOWN` */
function optionsOf({
  shipping_options: given = [],
  shipping_option: choice
}: PromotionDryRunRequest): QuoteShippingOption[] {
  const options = given.map(({ id, method_id, amount, tax_category }, index) => ({
    id: id ?? keyOf(index),
    methodId: method_id ?? null,
    amountMinor: amount,
    taxCategory: tax_category ?? null
  }))
  if (choice !== undefined && !options.some(({ id }) => id === choice)) throw shippingOptionUnknownError()
  return options
}

const presentComponent = (component: PriceComponent): PromotionDryRunResponse['components'][number] => ({
  kind: component.kind,
  line: component.line === undefined ? null : indexOf(component.line),
  promotion_id: component.promotion ?? null,
  code: component.code ?? null,
  rate_ppm: component.ratePpm ?? null,
  tax_category: component.taxCategory ?? null,
  amount: component.amountMinor,
  included: component.included,
  exempt: component.exempt?.reason ?? null
})

type Presented = PromotionDryRunResponse['findings'][number]

const presentFinding = ({
  finding: { code, message, missing, conflictsWith = [], promotionCode },
  promotionId,
  reason
}: ExplainedPromotionCodeFinding): Presented => ({
  code,
  message,
  reason,
  promotion_code: promotionCode,
  promotion_id: promotionId,
  missing_amount: missing?.amountMinor ?? null,
  missing_quantity: missing?.quantity ?? null,
  conflicts_with: conflictsWith.map(({ id, name }) => ({ id, name }))
})
