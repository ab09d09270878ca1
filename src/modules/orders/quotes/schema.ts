import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, nullable, request, response } from '../../../kernel/wire.ts'
import { FindingResponse, priceFields, said } from '../checkouts/schema.ts'

const { note: _, ...what } = said
export const OrderQuoteRequest = request('OrderQuoteRequest', {
  checkout_id: Type.Optional({
    ...Id,
    description: 'What this checkout says, whosever it is; beside it only `codes`, in the place of its own.'
  }),
  customer_id: Type.Optional({ ...Id, description: 'Who would buy it; without one, a guest.' }),
  cart: Type.Optional(
    Type.Literal(true, { description: 'What is in the cart of this customer, in the place of items.' })
  ),
  market: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'The code of a market; it counts more than the one of the request.'
    })
  ),
  ...what
})
export type OrderQuoteRequest = Static<typeof OrderQuoteRequest>

export const OrderQuoteResponse = response('OrderQuoteResponse', {
  customer_id: nullable({ ...Id, description: 'Null: a guest.' }),
  ready: Type.Boolean({ description: 'Whether it could be bought as it is: nothing blocks.' }),
  ...priceFields,
  findings: Type.Array(
    Type.Object({
      ...FindingResponse.properties,
      promotion_id: Type.Optional(nullable({ ...Id, description: 'Of a code: null when there is none.' })),
      reason: Type.Optional(Type.String({ description: 'Of a code: why it takes nothing off.' }))
    }),
    { description: 'What a shopper would be told, and of codes why they do not count.' }
  )
})
export type OrderQuoteResponse = Static<typeof OrderQuoteResponse>
