import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams } from '../../../kernel/wire.ts'
import { CreateLabelRequest, LabelResponse, labelFileResponseSchema } from './schema.ts'
import type { LabelService } from './service.ts'

const config = { class: 'account' } as const
const HEADERS = { 'cache-control': 'no-store', 'content-disposition': 'attachment' }

export function labelRoutes(tiers: Tiers, labels: LabelService): void {
  tiers.admin.post(
    '/admin/shipping/shipments/:id/label',
    {
      config,
      schema: {
        summary: 'Create a shipping label',
        description:
          'Requests a label for a shipment from a label provider. 202: it is bought shortly; read its status with `GET`. Then ship the order with its `carrier` and `tracking_number`. `If-Match` is the version of the shipment. 400 `SHIPPING_LABEL_PROVIDER_UNKNOWN`: `providers` lists the names. 409 `SHIPPING_LABEL_EXISTS`: void the label first. 409 `SHIPPING_LABEL_NOT_POSSIBLE`: it is picked up, voided or erased. 412 `SHIPPING_SHIPMENT_STALE`: read the shipment again.',
        params: IdParams,
        body: CreateLabelRequest,
        response: { 202: LabelResponse }
      }
    },
    request => labels.create(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/shipping/shipments/:id/label',
    {
      config,
      schema: {
        summary: 'Retrieve a shipping label',
        description:
          'Returns the last label of a shipment, or of the parcel that was shipped with it. 404 `SHIPPING_LABEL_NOT_FOUND`: no label was requested.',
        params: IdParams,
        response: { 200: LabelResponse }
      }
    },
    request => labels.read(request.params.id)
  )

  tiers.admin.delete(
    '/admin/shipping/shipments/:id/label',
    {
      config,
      schema: {
        summary: 'Void a shipping label',
        description:
          'Voids the last label of a shipment, so that the provider does not charge it. Its document is deleted. A failed or voided label stays as it is. A voided parcel voids its label, too. 404 `SHIPPING_LABEL_NOT_FOUND`: no label was requested. 412 `SHIPPING_LABEL_STALE`: read the label again.',
        params: IdParams,
        response: { 200: LabelResponse }
      }
    },
    request => labels.remove(request.params.id, writeOf(request))
  )

  tiers.admin.get(
    '/admin/shipping/shipments/:id/label/file',
    {
      config,
      schema: {
        summary: 'Download a shipping label',
        description:
          'Returns the document of the last label of a shipment, to print. It is deleted after `shipping.label_document_days`. 404 `SHIPPING_LABEL_FILE_NOT_FOUND`: the label is not ready, was voided, or its document was deleted.',
        params: IdParams,
        response: labelFileResponseSchema
      }
    },
    async (request, reply) => {
      const { mediaType, document } = await labels.file(request.params.id)
      return reply
        .type(mediaType)
        .headers(HEADERS)
        .send(document as never)
    }
  )
}
