import { changeListQueryFields, changeListResponse } from '../../../kernel/change-lists.ts'
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
import { PAYMENT_STATUSES, paymentResponseFieldSchemas } from '../payments/schema.ts'

export const AdminPaymentQuery = input({
  ...pageQuery,
  ...changeListQueryFields,
  status: Type.Optional(Type.Enum([...PAYMENT_STATUSES])),
  provider: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  order_id: Type.Optional(Id),
  expiring: Type.Optional(
    Type.Boolean({ description: 'Only payments whose authorization expires within a day.' })
  )
})
export type AdminPaymentQuery = Static<typeof AdminPaymentQuery>

const adminPayment = {
  ...paymentResponseFieldSchemas,
  customer_id: nullable(Id),
  refunding: amount('Refunds that the provider has not confirmed'),
  disputed: amount('Disputed by the customer through the bank'),
  authorized_until: nullable({
    ...Time,
    description: 'When the authorization expires. Null: the provider does not state it.'
  }),
  object_id: nullable(Type.String({ description: 'The id of the object at the provider.' }))
}
const AdminPaymentResponse = response('AdminPaymentResponse', adminPayment)
export const AdminPaymentListResponse = changeListResponse(AdminPaymentResponse)

const FactResponse = response('PaymentFactResponse', {
  kind: Type.String(),
  object_id: Type.String({ description: 'The id of the object at the provider.' }),
  status: Type.String(),
  amount: amount(),
  currency: Currency,
  source: Type.Enum(['answer', 'poll', 'callback', 'shop'], { description: 'How the fact was reported.' }),
  seen_at: Time
})
const OperationResponse = response('PaymentOperationResponse', {
  id: Id,
  payment_id: Id,
  order_id: Id,
  provider: Type.String(),
  kind: Type.Enum(['create', 'capture', 'void', 'refund'], {
    description: 'The request to the provider.'
  }),
  amount: amount(),
  state: Type.Enum(['started', 'unknown', 'succeeded', 'failed'], {
    description: '`started`: not sent yet. `unknown`: sent, and the response was lost; it is repeated.'
  }),
  object_id: nullable(Type.String({ description: 'The id of the object that it created at the provider.' })),
  error: nullable(Type.String()),
  reason: nullable(Type.String()),
  actor: nullable(Id),
  attempts: Type.Integer({ description: 'How often it was sent to the provider.' }),
  sent_at: nullable(Time),
  next_check_at: nullable({ ...Time, description: 'When it is sent next, while the result is unknown.' }),
  settled_at: nullable({ ...Time, description: 'When the result became final. Null: it is open.' }),
  created_at: Time
})
export const PaymentOperationListResponse = listOf(OperationResponse)
export const PaymentDetailResponse = response('PaymentDetailResponse', {
  ...adminPayment,
  facts: Type.Array(FactResponse),
  operations: Type.Array(OperationResponse)
})
export type PaymentDetailResponse = Static<typeof PaymentDetailResponse>

const Part = Type.Integer({
  description: 'Money, in minor units of the currency.',
  minimum: 1,
  maximum: 100_000_000_000
})
export const CapturePaymentRequest = request('CapturePaymentRequest', {
  amount: Type.Optional({
    ...Part,
    description: 'Amount to capture, in minor units. Default: all that is due and can be captured.'
  })
})
export const RefundPaymentRequest = request('RefundPaymentRequest', {
  amount: Part,
  reason: line(500, 'Reason, stored with the refund.')
})
