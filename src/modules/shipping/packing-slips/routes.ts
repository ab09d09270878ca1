import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { IdParams } from '../../../kernel/wire.ts'
import { nextPackingSlipsPageLinkHeader } from './page.ts'
import {
  PackingSlipResponse,
  PackingSlipsQuery,
  packingSlipPageResponseSchema,
  ShipmentListResponse,
  ShipmentQuery,
  shipmentCsvResponseSchema
} from './schema.ts'
import type { PackingSlipService } from './service.ts'

const config = { class: 'account' } as const
const bulk = { class: 'bulk' } as const
const HTML = 'text/html; charset=utf-8'
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox allow-modals"
const HEADERS = { 'content-security-policy': POLICY, 'cache-control': 'no-store' }

export function packingSlipRoutes(tiers: Tiers, slips: PackingSlipService): void {
  tiers.admin.get(
    '/admin/shipping/shipments',
    {
      config,
      schema: {
        summary: 'List shipments',
        description:
          'Returns a page of shipments that match the filters, newest first. `status=pending` lists what is still to be shipped.',
        querystring: ShipmentQuery,
        response: { 200: ShipmentListResponse }
      }
    },
    request => slips.list(request.query)
  )

  tiers.admin.get(
    '/admin/shipping/shipments/export',
    {
      config: bulk,
      schema: {
        summary: 'Export pending shipments',
        description:
          'Returns all shipments that are still to be shipped as a CSV file with addresses. Programs that print labels can read it.',
        response: shipmentCsvResponseSchema
      }
    },
    (_request, reply) => {
      reply.type('text/csv; charset=utf-8').send(slips.exportWaiting() as never)
    }
  )

  tiers.admin.get(
    '/admin/shipping/packing-slips',
    {
      config: bulk,
      schema: {
        summary: 'Download packing slips',
        description:
          'Returns a printable HTML page with up to 200 packing slips. By default these are the pending shipments, with `day` those shipped on that day. If there are more, the `Link` header has the next page (`rel="next"`).',
        querystring: PackingSlipsQuery,
        response: packingSlipPageResponseSchema
      }
    },
    async (request, reply) => {
      const { page, next } = await slips.pageOf(request.query)
      return reply
        .type(HTML)
        .headers({ ...HEADERS, ...nextPackingSlipsPageLinkHeader(request.query, next) })
        .send(page as never)
    }
  )

  tiers.admin.get(
    '/admin/shipping/shipments/:id/packing-slip',
    {
      config,
      schema: {
        summary: 'Download a packing slip',
        description:
          'Returns the packing slip of a shipment as a printable HTML page: contents and address. 404 `SHIPPING_SHIPMENT_NOT_FOUND`: it does not exist.',
        params: IdParams,
        response: packingSlipPageResponseSchema
      }
    },
    async (request, reply) =>
      reply
        .type(HTML)
        .headers(HEADERS)
        .send((await slips.page(request.params.id)) as never)
  )

  tiers.admin.get(
    '/admin/shipping/shipments/:id/packing-slip.json',
    {
      config,
      schema: {
        summary: 'Retrieve a packing slip',
        description:
          'Returns the packing slip of a shipment as JSON: contents and address. 404 `SHIPPING_SHIPMENT_NOT_FOUND`: it does not exist.',
        params: IdParams,
        response: { 200: PackingSlipResponse }
      }
    },
    request => slips.one(request.params.id)
  )
}
