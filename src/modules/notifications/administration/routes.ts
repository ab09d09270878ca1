import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams } from '../../../kernel/wire.ts'
import { MessageListResponse, MessageQuery, MessageResponse } from './schema.ts'
import type { MessageAdministration } from './service.ts'

const config = { class: 'account' } as const
const one = { params: IdParams, response: { 200: MessageResponse } }

export function messageRoutes(tiers: Tiers, messages: MessageAdministration): void {
  tiers.admin.get(
    '/admin/notifications',
    {
      config,
      schema: {
        summary: 'Messages, the newest first',
        querystring: MessageQuery,
        response: { 200: MessageListResponse }
      }
    },
    request => messages.list(request.query)
  )
  tiers.admin.get(
    '/admin/notifications/:id',
    { config, schema: { ...one, summary: 'A message, and what it says' } },
    request => messages.read(request.params.id)
  )
  tiers.admin.post(
    '/admin/notifications/:id/retry',
    { config, schema: { ...one, summary: 'Send a message that is dead, or waits, now' } },
    request => messages.retry(request.params.id, writeOf(request))
  )
  tiers.admin.post(
    '/admin/notifications/:id/cancel',
    { config, schema: { ...one, summary: 'Do not send a message that waits' } },
    request => messages.cancel(request.params.id, writeOf(request))
  )
}
