import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, nullable, request, response } from '../../../kernel/wire.ts'
import {
  CheckoutFindingResponse,
  checkoutPriceResponseFieldSchemas,
  checkoutRequestFields
} from '../checkouts/schema.ts'

const { note: _, metadata: __, ...what } = checkoutRequestFields
export const OrderQuoteRequest = request('OrderQuoteRequest', {
  checkout_id: Type.Optional({
    ...Id,
    description:
      'Prices this checkout, of any buyer. Only `codes` may be sent with it, which replace its own codes.'
  }),
  customer_id: Type.Optional({ ...Id, description: 'The customer who would buy. Default: a guest.' }),
  cart: Type.Optional(
    Type.Literal(true, { description: 'Uses the cart of `customer_id` instead of `items`.' })
  ),
  market: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'The code of a market. It takes precedence over `X-Market` and `?market=`.'
    })
  ),
  ...what
})
export type OrderQuoteRequest = Static<typeof OrderQuoteRequest>

export const OrderQuoteResponse = response('OrderQuoteResponse', {
  customer_id: nullable({ ...Id, description: 'The customer who would buy. Null: a guest.' }),
  ready: Type.Boolean({ description: 'Whether it could be ordered: no finding is `blocking`.' }),
  ...checkoutPriceResponseFieldSchemas,
  findings: Type.Array(
    Type.Object({
      ...CheckoutFindingResponse.properties,
      promotion_id: Type.Optional(
        nullable({ ...Id, description: 'For a code, its promotion. Null: the code is unknown.' })
      ),
      reason: Type.Optional(
        Type.String({ description: 'For a code, the reason why it has no effect, in detail.' })
      )
    }),
    { description: 'Findings as a buyer would get them, with details about promotion codes.' }
  )
})
export type OrderQuoteResponse = Static<typeof OrderQuoteResponse>
