import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, line, listOf, pageQuery, response, Time } from '../../../kernel/wire.ts'

export const SuppressionQuery = input({
  ...pageQuery,
  address: Type.Optional(line(320, 'Of this e-mail address alone.'))
})
export type SuppressionQuery = Static<typeof SuppressionQuery>

const SuppressionResponse = response('SuppressionResponse', {
  id: Id,
  address_masked: Type.String({ description: 'The shop keeps no more of it than this, and a keyed hash.' }),
  reason: Type.Enum(['bounced', 'unsubscribed'], {
    description:
      'bounced: nobody has this address, and nothing is sent there. unsubscribed: what somebody may not want is not sent.'
  }),
  times: Type.Integer({ description: 'How often it happened.' }),
  created_at: Time
})
export type SuppressionResponse = Static<typeof SuppressionResponse>
export const SuppressionListResponse = listOf(SuppressionResponse)
