import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, line, listOf, pageQuery, response, Time } from '../../../kernel/wire.ts'

export const SuppressionQuery = input({
  ...pageQuery,
  address: Type.Optional(line(320, 'Only suppressions of this e-mail address.'))
})
export type SuppressionQuery = Static<typeof SuppressionQuery>

const SuppressionResponse = response('SuppressionResponse', {
  id: Id,
  address_masked: Type.String({
    description: 'First letter and domain of the address. The shop stores only this and a keyed hash.'
  }),
  reason: Type.Enum(['bounced', 'unsubscribed'], {
    description:
      'bounced: the mail server reported that the address does not exist. No mail is sent to it after `notifications.suppress_after` bounces. unsubscribed: the recipient opted out of optional mails.'
  }),
  times: Type.Integer({ description: 'Number of consecutive bounces, or of opt-outs.' }),
  created_at: Time
})
export type SuppressionResponse = Static<typeof SuppressionResponse>
export const SuppressionListResponse = listOf(SuppressionResponse)
