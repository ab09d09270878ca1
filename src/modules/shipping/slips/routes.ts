import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { IdParams } from '../../../kernel/wire.ts'
import { linkTo } from './page.ts'
import { file, PackingSlipResponse, page, ShipmentListResponse, ShipmentQuery, SlipsQuery } from './schema.ts'
import type { Slips } from './service.ts'

const config = { class: 'account' } as const
const bulk = { class: 'bulk' } as const
const HTML = 'text/html; charset=utf-8'
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox allow-modals"
const HEADERS = { 'content-security-policy': POLICY, 'cache-control': 'no-store' }

export function slipRoutes(tiers: Tiers, slips: Slips): void {
  tiers.admin.get(
    '/admin/shipping/shipments',
    {
      config,
      schema: {
        summary: 'Shipments, the newest first',
        querystring: ShipmentQuery,
        response: { 200: ShipmentListResponse }
      }
    },
    request => slips.list(request.query)
  )

  tiers.admin.get(
    '/admin/shipping/shipments/export',
    { config: bulk, schema: { summary: 'What is still to be sent, as a CSV file', response: file } },
    (_request, reply) => {
      reply.type('text/csv; charset=utf-8').send(slips.exportWaiting() as never)
    }
  )

  tiers.admin.get(
    '/admin/shipping/packing-slips',
    {
      config: bulk,
      schema: {
        summary: 'Packing slips of many parcels, 200 at once',
        description:
          'Where there are more, the page says so, and the header `Link` says where they are (`rel="next"`).',
        querystring: SlipsQuery,
        response: page
      }
    },
    async (request, reply) => {
      const { page, next } = await slips.pageOf(request.query)
      return reply
        .type(HTML)
        .headers({ ...HEADERS, ...linkTo(request.query, next) })
        .send(page as never)
    }
  )

  tiers.admin.get(
    '/admin/shipping/shipments/:id/packing-slip',
    { config, schema: { summary: 'What is in a parcel, to print', params: IdParams, response: page } },
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
      schema: { summary: 'What is in a parcel', params: IdParams, response: { 200: PackingSlipResponse } }
    },
    request => slips.one(request.params.id)
  )
}
