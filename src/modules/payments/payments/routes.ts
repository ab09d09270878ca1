import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, PageQuery } from '../../../kernel/wire.ts'
import {
  AdminPaymentListResponse,
  AdminPaymentQuery,
  CapturePaymentRequest,
  OperationListResponse,
  PaymentDetailResponse,
  ReconciliationResponse,
  RefundPaymentRequest
} from './schema.ts'
import type { PaymentService } from './service.ts'

const config = { class: 'account' } as const
const asks = { class: 'checkout' } as const
const own = { params: IdParams, response: { 200: PaymentDetailResponse } }

export function paymentRoutes(tiers: Tiers, payments: PaymentService): void {
  tiers.admin.get(
    '/admin/payments',
    {
      config,
      schema: {
        summary: 'Payments, the newest first',
        querystring: AdminPaymentQuery,
        response: { 200: AdminPaymentListResponse }
      }
    },
    request => payments.list(request.query)
  )

  tiers.admin.get(
    '/admin/payments/operations',
    {
      config,
      schema: {
        summary: 'What providers were asked and have not answered, the oldest first',
        querystring: PageQuery,
        response: { 200: OperationListResponse }
      }
    },
    request => payments.listOpenOperations(request.query)
  )

  tiers.admin.get(
    '/admin/payments/reconciliation',
    {
      config,
      schema: { summary: 'Whether all is known that was asked', response: { 200: ReconciliationResponse } }
    },
    () => payments.reconciliation()
  )

  tiers.admin.get(
    '/admin/payments/:id',
    { config, schema: { ...own, summary: 'A payment, with all that is known of it' } },
    request => payments.read(request.params.id)
  )

  tiers.admin.post(
    '/admin/payments/:id/capture',
    { config: asks, schema: { ...own, summary: 'Take what is held', body: CapturePaymentRequest } },
    request =>
      payments.capture(request.params.id, request.body.amount, identityOf(request).userId, writeOf(request))
  )

  tiers.admin.post(
    '/admin/payments/:id/void',
    { config: asks, schema: { ...own, summary: 'Let go of what is held, or might still be paid' } },
    request => payments.void(request.params.id, identityOf(request).userId, writeOf(request))
  )

  tiers.admin.post(
    '/admin/payments/:id/refund',
    { config: asks, schema: { ...own, summary: 'Give something back', body: RefundPaymentRequest } },
    request => payments.refund(request.params.id, request.body, identityOf(request), writeOf(request))
  )
}
