import { patternWithMessage } from '../../../kernel/patterns.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import type { MarketRequest } from '../../../kernel/wire.ts'
import { Amount, input, line, request, requestedMarket } from '../../../kernel/wire.ts'
import { CheckoutRequest, checkoutRequestFields, GuestCheckoutRequest } from './schema.ts'

const { email, ...purchaseFields } = checkoutRequestFields
const TENDERS_MAX = 10
/** The maximum of a tender in compact JSON, with quotes of its code escaped. */
const TENDER_BYTES_MAX = 170
const NamedTendersSchema = Type.Array(
  input({
    type: Type.String({
      maxLength: 32,
      description: 'The type of the tender, such as `gift_card`, which a module provides.',
      ...patternWithMessage('^[a-z][a-z0-9_]*$', 'must be the type of a tender, such as gift_card')
    }),
    code: Type.String({
      maxLength: 64,
      description: 'The code of the tender. No response contains it.',
      ...patternWithMessage('^[ -~]+$', 'must be the code of a tender, in ASCII')
    }),
    amount: Type.Optional({
      ...Amount,
      minimum: 1,
      description:
        'What it must cover of the total, in minor units of the currency. Default: as much as it can.'
    })
  }),
  {
    maxItems: TENDERS_MAX,
    'x-bytes-max': TENDERS_MAX * TENDER_BYTES_MAX,
    description:
      'Gift cards, store credit and the like that cover a part or all of the total, one after another. `payment` covers the rest.'
  }
)
/** The tenders that a buyer wants to pay with, to preview them. */
export const TenderPreviewRequest = request('TenderPreviewRequest', { tenders: NamedTendersSchema })
const agreementFields = {
  expected_total: Type.Optional({
    ...Amount,
    description:
      'The total that the buyer has seen. With another total nothing is ordered: 409 `ORDER_PRICE_CHANGED`.'
  }),
  payment: Type.Optional({
    ...input({ provider: Type.Optional(line(64)), method: Type.Optional(line(64)) }),
    description: 'Starts a payment with the order. Without it, create a payment intent later.'
  }),
  tenders: Type.Optional(NamedTendersSchema)
}
export const CompleteCheckoutRequest = request('CompleteCheckoutRequest', agreementFields)
const orderRequestFields = {
  ...purchaseFields,
  ...agreementFields,
  market: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'The code of a market. It takes precedence over `X-Market` and `?market=`.'
    })
  )
}
export const OrderRequest = request('OrderRequest', { email, ...orderRequestFields })
export const PlaceGuestOrderRequest = request('PlaceGuestOrderRequest', {
  email: Type.String({
    minLength: 3,
    maxLength: 320,
    description: 'Email address of the guest, for the order confirmation.'
  }),
  guest_cart_token: Type.Optional(
    Type.String({ description: 'Orders the items of this guest cart instead of `items`.', maxLength: 128 })
  ),
  ...orderRequestFields
})

/** What a buyer wants to buy: for a checkout, an order, or the completion of a checkout. */
export const PlaceOrderInput = input({
  ...GuestCheckoutRequest.properties,
  ...CheckoutRequest.properties,
  ...OrderRequest.properties
})
/**
 * What a buyer wants to buy: for a checkout, an order, or the completion of a checkout. Its fields are those of the
 * bodies of `/api/checkouts` and `/api/orders`.
 * @example
 * const input: PlaceOrderInput = { items: [{ variant_id: variantId, quantity: 1 }], shipping_address }
 */
export type PlaceOrderInput = Static<typeof PlaceOrderInput>

/** What a buyer adds when they complete a checkout. */
export type CompleteCheckoutInput = Static<typeof CompleteCheckoutRequest>

/** Returns the body of a request, and the market of its header or query unless the body names one. */
export function placeOrderInputOfRequest<B extends object>(
  request: MarketRequest & { readonly body: B }
): B & Pick<PlaceOrderInput, 'market'> {
  const market = requestedMarket(request)
  return market === undefined ? request.body : { market, ...request.body }
}
