import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, PageQuery } from '../../../kernel/wire.ts'
import {
  AdminPaymentListResponse,
  AdminPaymentQuery,
  CapturePaymentRequest,
  PaymentDetailResponse,
  PaymentOperationListResponse,
  RefundPaymentRequest
} from './schema.ts'
import type { PaymentAdministration } from './service.ts'

const config = { class: 'account' } as const
const providerConfig = { class: 'checkout' } as const
const own = { params: IdParams, response: { 200: PaymentDetailResponse } }

export function paymentRoutes(tiers: Tiers, payments: PaymentAdministration): void {
  tiers.admin.get(
    '/admin/payments',
    {
      config,
      schema: {
        summary: 'List payments',
        description:
          'Returns a page of the payments of all orders that match the filters, newest first. `expiring=true` selects authorizations that expire within a day. Poll for changes with `updated_since`. 400 `UPDATED_SINCE_FILTERED`: send `updated_since` without filters.',
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
        summary: 'List open operations',
        description:
          'Returns a page of requests to providers without a final result, oldest first. Operations with state `unknown` are repeated automatically until the result is known.',
        querystring: PageQuery,
        response: { 200: PaymentOperationListResponse }
      }
    },
    request => payments.listOpenOperations(request.query)
  )

  tiers.admin.get(
    '/admin/payments/:id',
    {
      config,
      schema: {
        ...own,
        summary: 'Retrieve a payment',
        description:
          'Returns a payment with the facts that its provider reported and the operations that were requested. 404 `PAYMENT_NOT_FOUND`: the payment does not exist.'
      }
    },
    request => payments.read(request.params.id)
  )

  tiers.admin.post(
    '/admin/payments/:id/capture',
    {
      config: providerConfig,
      schema: {
        ...own,
        summary: 'Capture a payment',
        description:
          'Captures an authorized payment, fully or in part; the provider voids the rest. For a manual payment it records that the money has arrived. Returns the payment. 409 `PAYMENT_CAPTURE_TOO_MUCH`: `available` is the most that can be captured. 409 `PAYMENT_CAPTURE_WHOLE_ONLY`: the provider cannot capture a part; capture `available`. 409 `PAYMENT_OPERATION_OPEN`: an earlier operation has no result yet; retry later. 409 `PAYMENT_ORDER_FROZEN`: the order is being canceled.',
        body: CapturePaymentRequest
      }
    },
    request =>
      payments.capture(request.params.id, request.body.amount, identityOf(request).userId, writeOf(request))
  )

  tiers.admin.post(
    '/admin/payments/:id/void',
    {
      config: providerConfig,
      schema: {
        ...own,
        summary: 'Void a payment',
        description:
          'Voids an open payment: an authorization is released, and the customer can no longer pay it. Captured money stays captured. 409 `PAYMENT_NOT_VOIDABLE`: the payment is closed; refund what was captured. 409 `PAYMENT_OPERATION_OPEN`: an earlier operation has no result yet; retry later.'
      }
    },
    request => payments.void(request.params.id, identityOf(request).userId, writeOf(request))
  )

  tiers.admin.post(
    '/admin/payments/:id/refund',
    {
      config: providerConfig,
      schema: {
        ...own,
        summary: 'Refund a payment',
        description:
          'Refunds a part of a captured payment, or all of it. The order keeps its total: use its refund operation to credit lines. `refunding` is the amount that the provider has not confirmed. 409 `PAYMENT_REFUND_TOO_MUCH`: `available` is the most that can be refunded. 409 `PAYMENT_PROVIDER_REMOVED`: enable the `provider` of the payment again. 403 `AUTH_RECENT_LOGIN_REQUIRED`: log in again. 403 `PAYMENT_REFUND_LIMIT`: the amount exceeds the limit for API keys.',
        body: RefundPaymentRequest
      }
    },
    request => payments.refund(request.params.id, request.body, identityOf(request), writeOf(request))
  )
}
