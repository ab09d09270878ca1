import { type Static, Type } from '../../../kernel/schema.ts'
import { amount, Currency, Id, listOf, request, response, Time } from '../../../kernel/wire.ts'

export const PAYMENT_STATUSES = [
  'pending',
  'requires_action',
  'authorized',
  'succeeded',
  'failed',
  'canceled',
  'partially_refunded',
  'refunded'
] as const
const Status = Type.Enum([...PAYMENT_STATUSES], {
  description:
    '`pending`: no result yet. `requires_action`: the customer must act. `authorized`: reserved, not captured. `succeeded`: captured, at least in part. `failed`: an attempt was declined; another one may follow.'
})

/** Fields of a payment that its buyer and administrators see. */
export const paymentResponseFieldSchemas = {
  id: Id,
  order_id: Id,
  provider: Type.String(),
  method: Type.String({ description: 'Payment method, as the provider names it.' }),
  amount: amount('Amount to pay'),
  currency: Currency,
  status: Status,
  authorized: amount('Authorized and not captured'),
  captured: amount('Captured'),
  refunded: amount('Refunded'),
  created_at: Time,
  updated_at: Time
}
export const PaymentResponse = response('PaymentResponse', paymentResponseFieldSchemas)
export type PaymentResponse = Static<typeof PaymentResponse>
export const PaymentListResponse = listOf(PaymentResponse)

const PaymentProvider = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Name of the provider. Default: the default provider of the shop.'
})
export const PaymentIntentRequest = request('PaymentIntentRequest', {
  order_id: Id,
  provider: Type.Optional(PaymentProvider),
  method: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Payment method. Default: the first method of the provider.'
    })
  )
})
export type PaymentIntentRequest = Static<typeof PaymentIntentRequest>
const Action = response('PaymentActionResponse', {
  type: Type.String(),
  reference: Type.String({
    description: 'Payment reference that the customer must state: the order number.'
  }),
  text: Type.String({ description: 'Payment instructions for the customer.' })
})
export const PaymentIntentResponse = response('PaymentIntentResponse', {
  ...paymentResponseFieldSchemas,
  client_secret: Type.Optional(
    Type.String({ description: 'Secret for the provider’s script in the browser.' })
  ),
  redirect_url: Type.Optional(Type.String({ description: 'Page of the provider where the customer pays.' })),
  action: Type.Optional(Action)
})
export type PaymentIntentResponse = Static<typeof PaymentIntentResponse>
