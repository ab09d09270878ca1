import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, noContent } from '../../../kernel/wire.ts'
import type { PaymentEventQuarantineService } from './quarantine-service.ts'
import { DiscardPaymentEventRequest, PaymentEventListResponse, PaymentProviderEventQuery } from './schema.ts'

const config = { class: 'account' } as const

export function paymentEventQuarantineRoutes(tiers: Tiers, quarantine: PaymentEventQuarantineService): void {
  tiers.admin.get(
    '/admin/payments/events',
    {
      config,
      schema: {
        summary: 'List payment provider events',
        description:
          'Returns a page of events from payment providers, oldest first. By default these are the quarantined ones: events that contradict the stored payment and changed nothing.',
        querystring: PaymentProviderEventQuery,
        response: { 200: PaymentEventListResponse }
      }
    },
    request => quarantine.list(request.query)
  )

  tiers.admin.post(
    '/admin/payments/events/:id/retry',
    {
      config,
      schema: {
        summary: 'Retry a quarantined event',
        description:
          'Queues a quarantined event, which is applied again shortly after the response. Use it when the contradicting data was corrected. It is quarantined again if it still does not fit. 404 `PAYMENT_EVENT_NOT_FOUND`: no such event is in quarantine.',
        params: IdParams,
        response: noContent
      }
    },
    request => quarantine.retry(request.params.id, writeOf(request))
  )

  tiers.admin.post(
    '/admin/payments/events/:id/discard',
    {
      config,
      schema: {
        summary: 'Discard a quarantined event',
        description:
          'Discards a quarantined event, which is then never applied. The `reason` is stored with the event. 404 `PAYMENT_EVENT_NOT_FOUND`: no such event is in quarantine.',
        params: IdParams,
        body: DiscardPaymentEventRequest,
        response: noContent
      }
    },
    request => quarantine.discard(request.params.id, request.body.reason, writeOf(request))
  )
}
