import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, noContent } from '../../../kernel/wire.ts'
import { DiscardPaymentEventRequest, PaymentEventListResponse, PaymentEventQuery } from './schema.ts'
import type { QuarantineService } from './service.ts'

const config = { class: 'account' } as const

export function quarantineRoutes(tiers: Tiers, quarantine: QuarantineService): void {
  tiers.admin.get(
    '/admin/payments/events',
    {
      config,
      schema: {
        summary: 'What providers called back with, the oldest first',
        querystring: PaymentEventQuery,
        response: { 200: PaymentEventListResponse }
      }
    },
    request => quarantine.list(request.query)
  )

  tiers.admin.post(
    '/admin/payments/events/:id/retry',
    {
      config,
      schema: { summary: 'Judge a quarantined event anew', params: IdParams, response: noContent }
    },
    request => quarantine.retry(request.params.id, writeOf(request))
  )

  tiers.admin.post(
    '/admin/payments/events/:id/discard',
    {
      config,
      schema: {
        summary: 'Give a quarantined event up: it is never applied',
        params: IdParams,
        body: DiscardPaymentEventRequest,
        response: noContent
      }
    },
    request => quarantine.discard(request.params.id, request.body.reason, writeOf(request))
  )
}
