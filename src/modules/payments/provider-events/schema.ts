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
export const PaymentProviderEventQuery = input({
  ...pageQuery,
  state: Type.Optional(
    Type.Enum([...STATES], {
      default: 'quarantined',
      description:
        '`quarantined`: it contradicts the stored payment and changed nothing. `received`: its payment is not known yet.'
    })
  )
})
export type PaymentProviderEventQuery = Static<typeof PaymentProviderEventQuery>

export const DiscardPaymentEventRequest = request('DiscardPaymentEventRequest', {
  reason: line(500, 'Reason for discarding it, stored with the event.')
})

const PaymentEventResponse = response('PaymentEventResponse', {
  id: Id,
  provider: Type.String(),
  event_id: Type.String({ description: 'The id that the provider gave the event.' }),
  source: Type.Enum(['callback', 'answer', 'poll'], {
    description:
      '`callback`: sent by the provider. `answer`: the response to an operation. `poll`: the response to a status query.'
  }),
  type: Type.String({ description: 'Type of the event, as the provider names it.' }),
  state: Type.Enum([...STATES]),
  reason: nullable(Type.String({ description: 'Why it was not applied. Null: it was, or it waits.' })),
  payment_id: nullable(Id),
  attempts: Type.Integer({ description: 'How often the shop tried to find its payment.' }),
  next_check_at: nullable({ ...Time, description: 'When it is tried next. Null: not again.' }),
  received_at: Time
})
export const PaymentEventListResponse = listOf(PaymentEventResponse)
