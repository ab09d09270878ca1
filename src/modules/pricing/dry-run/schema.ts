import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Amount,
  amount,
  Country,
  Currency,
  Id,
  input,
  line,
  nullable,
  request,
  response
} from '../../../kernel/wire.ts'
import { QUOTE_SIZE_LIMITS } from '../quote/size-limits.ts'

const OPTIONS_MAX = 100
const Quantity = Type.Integer({ minimum: 1, maximum: 1_000_000 })
const TaxedAs = Type.Optional(
  nullable(line(64, 'Code of the tax category. Default: `standard`. `untaxed` is never taxed.'))
)
const DryRunLine = input({
  variant_id: Type.Optional({
    ...Id,
    description:
      'Lines of one variant with the same prices are added up before discounts and taxes are rounded.'
  }),
  product_id: Type.Optional(Id),
  category_ids: Type.Optional(
    Type.Array(Id, { description: 'Categories of the product, with all parent categories.', maxItems: 200 })
  ),
  quantity: Quantity,
  price: Amount,
  discounted_price: Type.Optional({
    ...Amount,
    description: 'Unit price after catalog discounts. Default: `price`.'
  }),
  tax_category: TaxedAs
})
const DryRunShippingOption = input({
  id: Type.Optional(line(64)),
  method_id: Type.Optional({ ...Id, description: 'The shipping method of the option.' }),
  amount: { ...Amount, description: 'Price of the delivery before promotions.' },
  tax_category: TaxedAs
})
export const PromotionDryRunRequest = request('DryRunRequest', {
  market: Type.Optional(
    line(32, 'Code of the market. Default: the market of the country, or else the default market.')
  ),
  lines: Type.Array(DryRunLine, { minItems: 1, maxItems: QUOTE_SIZE_LIMITS.lines }),
  codes: Type.Optional(Type.Array(line(64), { maxItems: QUOTE_SIZE_LIMITS.codes })),
  destination: Type.Optional(
    input({
      country: Country,
      region: Type.Optional(line(64, 'Code or name of the region (ISO 3166-2).')),
      postal_code: Type.Optional(line(16))
    })
  ),
  shipping_options: Type.Optional(
    Type.Array(DryRunShippingOption, {
      description: 'Shipping options that a checkout would offer. Default: no delivery.',
      maxItems: OPTIONS_MAX
    })
  ),
  shipping_option: Type.Optional(line(64, 'The id of the chosen option. Default: the cheapest one.')),
  customer_id: Type.Optional({
    ...Id,
    description: 'Customer whose redemptions and tax exemptions apply. Default: none.'
  }),
  first_order: Type.Optional(
    Type.Boolean({ description: 'Whether it is the first order. Default: as it is for the customer.' })
  ),
  at: Type.Optional(
    Type.String({ format: 'date-time', description: 'Time of the calculation. Default: now.' })
  )
})
export type PromotionDryRunRequest = Static<typeof PromotionDryRunRequest>

const totals = {
  subtotal: amount('Items before discounts'),
  discount: amount('Discounts on items'),
  shipping: amount('Delivery after discounts'),
  tax: amount('All tax'),
  cash_rounding: amount('Difference from rounding the total to a payable cash amount'),
  total: amount('Total to pay')
}
export const PromotionDryRunResponse = response('DryRunResponse', {
  market: Type.String(),
  currency: Currency,
  lines: Type.Array(
    Type.Object({
      index: Type.Integer({ description: 'Position of the line in the request, from 0.' }),
      subtotal: Type.Integer(),
      discount: Type.Integer(),
      tax: Type.Integer(),
      total: Type.Integer()
    })
  ),
  ...totals,
  components: Type.Array(
    Type.Object({
      kind: Type.String(),
      line: nullable(Type.Integer()),
      promotion_id: nullable(Id),
      code: nullable(Type.String()),
      rate_ppm: nullable(Type.Integer()),
      tax_category: nullable(Type.String()),
      amount: amount('Negative for a discount'),
      included: Type.Boolean({ description: 'Whether other amounts include it, such as tax in a price.' }),
      exempt: nullable(
        Type.String({ description: 'The reason for an exemption from this tax. Null: the tax is due.' })
      )
    }),
    { description: 'The parts of the total. The parts with `included: false` add up to it.' }
  ),
  findings: Type.Array(
    Type.Object({
      code: Type.String({ description: 'The finding as a stable code for programs.' }),
      message: Type.String({ description: 'The finding as a text for buyers.' }),
      reason: Type.String({ description: 'The reason in detail, for administrators.' }),
      promotion_code: nullable(Type.String()),
      promotion_id: nullable({ ...Id, description: 'The promotion of the code. Null: the code is unknown.' }),
      missing_amount: nullable(Type.Integer()),
      missing_quantity: nullable(Type.Integer()),
      conflicts_with: Type.Array(Type.Object({ id: Id, name: Type.String() }))
    }),
    { description: 'Codes without an effect, with the reason.' }
  ),
  applied: Type.Array(
    Type.Object({
      promotion_id: Id,
      name: Type.String(),
      code: nullable(Type.String()),
      amount: amount('Discount of the promotion')
    }),
    { description: 'Promotions that apply.' }
  )
})
export type PromotionDryRunResponse = Static<typeof PromotionDryRunResponse>
