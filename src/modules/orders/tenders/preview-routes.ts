import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { createRunWithoutRequestSlot } from '../../../gateway/writes/write.ts'
import { Type } from '../../../kernel/schema.ts'
import { IdParams } from '../../../kernel/wire.ts'
import { customerBuyerOfRequest, guestBuyerOfRequest } from '../buyers/routes.ts'
import { TenderPreviewRequest } from '../checkouts/place-order.ts'
import type { PreviewTenders } from './preview.ts'
import { TenderPreviewResponse } from './preview-schema.ts'

/** `perMinute`: previews per minute of a client. It calculates a price, as reading a checkout does. */
export function tenderPreviewRoutes(tiers: Tiers, previewTenders: PreviewTenders, perMinute: number): void {
  const config = { class: 'checkout', countsAs: 5, limit: { name: 'tender_preview', perMinute } } as const
  const schema = { params: IdParams, body: TenderPreviewRequest, response: { 200: TenderPreviewResponse } }

  tiers.secured.post(
    '/checkouts/:id/tenders',
    {
      config: { ...config, noReplay: 'it changes nothing' },
      schema: {
        ...schema,
        summary: 'Preview tenders of a checkout',
        description:
          'Returns what each of the `tenders` would cover of the checkout now, and what is left to pay. Nothing is reserved or stored, so send the same `tenders` when you complete the checkout. A tender that cannot be used has the same error as then: 400 `ORDER_TENDER_TYPE_UNKNOWN`, 409 `ORDER_TENDER_SHORT`, or one of its module. 409 `CHECKOUT_COMPLETED`, `CHECKOUT_EXPIRED` or `CHECKOUT_CANCELED`: the checkout is not open.'
      }
    },
    request =>
      previewTenders(
        customerBuyerOfRequest(request),
        request.params.id,
        request.body.tenders,
        createRunWithoutRequestSlot(request)
      )
  )

  tiers.public.post(
    '/checkouts/guest/:id/tenders',
    {
      config: { ...config, noReplay: 'it changes nothing' },
      schema: {
        ...schema,
        tags: ['guest checkouts'],
        headers: Type.Object({
          'x-checkout-token': Type.Optional(
            Type.String({ description: 'The `checkout_token` of the checkout.' })
          )
        }),
        summary: 'Preview tenders of a guest checkout',
        description:
          'Needs `X-Checkout-Token`. Returns what each of the `tenders` would cover of the checkout now, and what is left to pay. Nothing is reserved or stored, so send the same `tenders` when you complete the checkout. A tender that cannot be used has the same error as then: 400 `ORDER_TENDER_TYPE_UNKNOWN`, 409 `ORDER_TENDER_SHORT`, or one of its module. 409 `CHECKOUT_COMPLETED`, `CHECKOUT_EXPIRED` or `CHECKOUT_CANCELED`: the checkout is not open.'
      }
    },
    request =>
      previewTenders(
        guestBuyerOfRequest(request, 'x-checkout-token'),
        request.params.id,
        request.body.tenders,
        createRunWithoutRequestSlot(request)
      )
  )
}
