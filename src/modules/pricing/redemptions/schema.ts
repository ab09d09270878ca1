import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, nullable, response, Time } from '../../../kernel/wire.ts'

export const RedemptionResponse = response('RedemptionResponse', {
  owner: { ...Id, description: 'The order.' },
  code: nullable(Type.String()),
  redeemed_at: Time
})
export type RedemptionResponse = Static<typeof RedemptionResponse>
