import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { PageQuery } from '../../../kernel/wire.ts'
import { NotificationListResponse, SendRequest, SendResponse } from './schema.ts'
import type { Sending } from './service.ts'

const config = { class: 'account' } as const

export function sendingRoutes(tiers: Tiers, sending: Sending, perMinute: number): void {
  tiers.secured.post(
    '/notifications/send',
    {
      config: { ...config, limit: { name: 'notification', perMinute } },
      schema: {
        summary: 'Have something told to oneself; administrators who look after mails to anybody',
        body: SendRequest,
        response: { 202: SendResponse }
      }
    },
    request => sending.send(identityOf(request), request.body, writeOf(request))
  )
  tiers.secured.get(
    '/notifications',
    {
      config,
      schema: {
        summary: 'What the caller was told, the newest first',
        querystring: PageQuery,
        response: { 200: NotificationListResponse }
      }
    },
    request => sending.list(identityOf(request).userId, request.query)
  )
}
