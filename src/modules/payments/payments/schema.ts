import { type Static, Type } from '../../../kernel/schema.ts'
import {
  amount,
  Currency,
  Id,
  input,
  line,
  listOf,
  nullable,
  pageQuery,
  request,
  response,
  Time
} from '../../../kernel/wire.ts'

const STATUSES = [
  'pending',
  'requires_action',
  'authorized',
  'succeeded',
  'failed',
  'canceled',
  'partially_refunded',
  'refunded'
] as const
const Status = Type.Enum([...STATUSES], {
  description:
    'pending: nothing is decided. requires_action: the customer has to do something. authorized: held, not yet taken. succeeded: taken, at least in part. failed: a try was refused, and another one may follow.'
})

const payment = {
  id: Id,
  order_id: Id,
  provider: Type.String(),
  method: Type.String({ description: 'How it is paid, in the words of the provider.' }),
  amount: amount('What is to be paid'),
  currency: Currency,
  status: Status,
  authorized: amount('Held, and not yet taken'),
  captured: amount('Taken'),
  refunded: amount('Given back'),
  created_at: Time,
  updated_at: Time
}
export const PaymentResponse = response('PaymentResponse', payment)
export type PaymentResponse = Static<typeof PaymentResponse>
export const PaymentListResponse = listOf(PaymentResponse)

const Provider = Type.String({ minLength: 1, maxLength: 64, description: 'Without one, the usual one.' })
export const PaymentIntentRequest = request('PaymentIntentRequest', {
  order_id: Id,
  provider: Type.Optional(Provider),
  method: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'Without one, the usual one of the provider.' })
  )
})
export type PaymentIntentRequest = Static<typeof PaymentIntentRequest>
const Action = response('PaymentActionResponse', {
  type: Type.String(),
  reference: Type.String({
    description: 'What the customer names with the payment: the number of the order.'
  }),
  text: Type.String({ description: 'What to tell the customer.' })
})
export const PaymentIntentResponse = response('PaymentIntentResponse', {
  ...payment,
  client_secret: Type.Optional(Type.String({ description: 'For the code of the provider in a browser.' })),
  redirect_url: Type.Optional(Type.String({ description: 'Where the customer pays.' })),
  action: Type.Optional(Action)
})
export type PaymentIntentResponse = Static<typeof PaymentIntentResponse>

export const AdminPaymentQuery = input({
  ...pageQuery,
  status: Type.Optional(Type.Enum([...STATUSES])),
  provider: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  order_id: Type.Optional(Id),
  expiring: Type.Optional(
    Type.Boolean({ description: 'Those alone of which what is held runs out within a day.' })
  )
})
export type AdminPaymentQuery = Static<typeof AdminPaymentQuery>

const adminPayment = {
  ...payment,
  customer_id: nullable(Id),
  refunding: amount('Being given back'),
  disputed: amount('Wanted back by way of the bank'),
  authorized_until: nullable({
    ...Time,
    description: 'When what is held runs out, where the provider says so.'
  }),
  object_id: nullable(Type.String({ description: 'What the provider calls it.' }))
}
const AdminPaymentResponse = response('AdminPaymentResponse', adminPayment)
export const AdminPaymentListResponse = listOf(AdminPaymentResponse)

const FactResponse = response('PaymentFactResponse', {
  kind: Type.String(),
  object_id: Type.String({ description: 'What the provider calls it.' }),
  status: Type.String(),
  amount: amount(),
  currency: Currency,
  source: Type.Enum(['answer', 'poll', 'callback', 'shop'], { description: 'How it became known.' }),
  seen_at: Time
})
const OperationResponse = response('PaymentOperationResponse', {
  id: Id,
  payment_id: Id,
  order_id: Id,
  provider: Type.String(),
  kind: Type.Enum(['create', 'capture', 'void', 'refund']),
  amount: amount(),
  state: Type.Enum(['started', 'unknown', 'succeeded', 'failed'], {
    description: 'unknown: it was sent, and whether it was done is being found out.'
  }),
  object_id: nullable(Type.String({ description: 'What it made at the provider.' })),
  error: nullable(Type.String()),
  reason: nullable(Type.String()),
  actor: nullable(Id),
  attempts: Type.Integer(),
  sent_at: nullable(Time),
  next_check_at: nullable(Time),
  settled_at: nullable(Time),
  created_at: Time
})
export const OperationListResponse = listOf(OperationResponse)
export const PaymentDetailResponse = response('PaymentDetailResponse', {
  ...adminPayment,
  facts: Type.Array(FactResponse),
  operations: Type.Array(OperationResponse)
})
export type PaymentDetailResponse = Static<typeof PaymentDetailResponse>

const Part = Type.Integer({
  description: 'In minor units of the currency.',
  minimum: 1,
  maximum: 100_000_000_000
})
export const CapturePaymentRequest = request('CapturePaymentRequest', {
  amount: Type.Optional({ ...Part, description: 'Without it, all that can be taken, in minor units.' })
})
export const RefundPaymentRequest = request('RefundPaymentRequest', {
  amount: Part,
  reason: line(500, 'Why; it is kept with the refund.')
})

export const ReconciliationResponse = response('PaymentReconciliationResponse', {
  providers: Type.Array(
    response('PaymentProviderResponse', {
      name: Type.String(),
      is_down: Type.Boolean({ description: 'It has not answered several times in a row.' })
    })
  ),
  open_operations: Type.Integer({ description: 'What was asked and not answered.' }),
  oldest_seconds: Type.Number({ description: 'Since when the oldest of these waits.' }),
  events: Type.Object({
    received: Type.Integer({ description: 'Callbacks that nothing is known for, yet.' }),
    quarantined: Type.Integer({ description: 'Callbacks that wait for an administrator.' })
  })
})
export type ReconciliationResponse = Static<typeof ReconciliationResponse>
