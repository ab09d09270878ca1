import { type Static, Type } from '../../../kernel/schema.ts'
import {
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

const STATES = ['received', 'applied', 'ignored', 'quarantined', 'discarded'] as const
export const PaymentEventQuery = input({
  ...pageQuery,
  state: Type.Optional(
    Type.Enum([...STATES], {
      default: 'quarantined',
      description:
        'quarantined: it does not fit what we know, and changed nothing. received: nothing is known for it yet.'
    })
  )
})
export type PaymentEventQuery = Static<typeof PaymentEventQuery>

export const DiscardPaymentEventRequest = request('DiscardPaymentEventRequest', {
  reason: line(500, 'Why it need not be applied; it is kept with the event.')
})

const PaymentEventResponse = response('PaymentEventResponse', {
  id: Id,
  provider: Type.String(),
  event_id: Type.String({ description: "The provider's own." }),
  source: Type.Enum(['callback', 'answer', 'poll'], {
    description: 'How it came. answer: to something asked for. poll: when it was asked how the payment is.'
  }),
  type: Type.String(),
  state: Type.Enum([...STATES]),
  reason: nullable(Type.String({ description: 'Why it was not applied.' })),
  payment_id: nullable(Id),
  attempts: Type.Integer(),
  next_check_at: nullable(Time),
  received_at: Time
})
export const PaymentEventListResponse = listOf(PaymentEventResponse)
