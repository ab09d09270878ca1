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
import { QUOTE_LIMITS } from '../quote/limits.ts'

const OPTIONS_MAX = 100
const Quantity = Type.Integer({ minimum: 1, maximum: 1_000_000 })
const TaxedAs = Type.Optional(
  nullable(line(64, 'Tax category; null or absent: `standard`. `untaxed` is never taxed.'))
)
const DryRunLine = input({
  variant_id: Type.Optional(Id),
  product_id: Type.Optional(Id),
  category_ids: Type.Optional(
    Type.Array(Id, { description: 'Of the product, with all that lie above them.', maxItems: 200 })
  ),
  quantity: Quantity,
  price: Amount,
  discounted_price: Type.Optional({
    ...Amount,
    description: 'After discounts of the catalog; the price, unless sent.'
  }),
  tax_category: TaxedAs
})
const DryRunShippingOption = input({
  id: Type.Optional(line(64)),
  method_id: Type.Optional({ ...Id, description: 'The shipping method that it is an option of.' }),
  amount: { ...Amount, description: 'Price of the delivery before promotions.' },
  tax_category: TaxedAs
})
export const DryRunRequest = request('DryRunRequest', {
  market: Type.Optional(line(32, 'The code of one; else that of the country, else the default one.')),
  lines: Type.Array(DryRunLine, { minItems: 1, maxItems: QUOTE_LIMITS.lines }),
  codes: Type.Optional(Type.Array(line(64), { maxItems: QUOTE_LIMITS.codes })),
  destination: Type.Optional(
    input({
      country: Country,
      region: Type.Optional(line(64, 'Its code or its name by ISO 3166-2.')),
      postal_code: Type.Optional(line(16))
    })
  ),
  shipping_options: Type.Optional(
    Type.Array(DryRunShippingOption, {
      description: 'The shipping options that the checkout offers. Without them nothing is delivered.',
      maxItems: OPTIONS_MAX
    })
  ),
  shipping_option: Type.Optional(line(64, 'The id of the chosen option; absent: the cheapest one.')),
  customer_id: Type.Optional({
    ...Id,
    description: 'Whose uses and exemptions from tax count; nobody’s, unless sent.'
  }),
  first_order: Type.Optional(Type.Boolean({ description: 'As it is for the customer, unless sent.' })),
  at: Type.Optional(
    Type.String({ format: 'date-time', description: 'As it will be then; as it is, unless sent.' })
  )
})
export type DryRunRequest = Static<typeof DryRunRequest>

const totals = {
  subtotal: amount('Before discounts'),
  discount: amount('What is taken off lines'),
  shipping: amount('Delivery after what is taken off it'),
  tax: amount('All tax'),
  cash_rounding: amount('What rounding to what can be paid adds'),
  total: amount('What is paid')
}
export const DryRunResponse = response('DryRunResponse', {
  market: Type.String(),
  currency: Currency,
  lines: Type.Array(
    Type.Object({
      index: Type.Integer({ description: 'Its place in the request, the first being 0.' }),
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
      amount: amount('Below zero for what is taken off'),
      included: Type.Boolean({ description: 'Whether it is part of the other amounts already.' }),
      exempt: nullable(Type.String({ description: 'Of tax that the customer does not pay: why.' }))
    }),
    { description: 'What makes up the total: the sum of those that are not included.' }
  ),
  findings: Type.Array(
    Type.Object({
      code: Type.String({ description: 'What it is, for programs.' }),
      message: Type.String({ description: 'What it is, for shoppers.' }),
      reason: Type.String({ description: 'Why, for administrators.' }),
      promotion_code: nullable(Type.String()),
      promotion_id: nullable({ ...Id, description: 'Of which promotion it is a code.' }),
      missing_amount: nullable(Type.Integer()),
      missing_quantity: nullable(Type.Integer()),
      conflicts_with: Type.Array(Type.Object({ id: Id, name: Type.String() }))
    }),
    { description: 'Why codes have no effect.' }
  ),
  applied: Type.Array(
    Type.Object({
      promotion_id: Id,
      name: Type.String(),
      code: nullable(Type.String()),
      amount: amount('What it takes off')
    }),
    { description: 'The promotions that count.' }
  )
})
export type DryRunResponse = Static<typeof DryRunResponse>
