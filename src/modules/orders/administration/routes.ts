import type { FastifyRequest } from 'fastify'
import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { Type } from '../../../kernel/schema.ts'
import { IdParams } from '../../../kernel/wire.ts'
import type { Doer } from '../changes/service.ts'
import * as schema from './schema.ts'
import type { OrderAdministration } from './service.ts'

const config = { class: 'account' } as const
const asks = { class: 'checkout' } as const
const own = { params: IdParams, response: { 200: schema.AdminOrderResponse } }

export function orderAdministrationRoutes(tiers: Tiers, orders: OrderAdministration): void {
  tiers.admin.get(
    '/admin/orders',
    {
      config,
      schema: {
        summary: 'Orders, the newest first',
        querystring: schema.OrderListQuery,
        response: { 200: schema.OrderListResponse }
      }
    },
    request => orders.list(request.query)
  )

  tiers.admin.get(
    '/admin/orders/export',
    {
      config: { class: 'bulk' },
      schema: {
        summary: 'Orders as a CSV file, the newest first',
        querystring: schema.OrderExportQuery,
        response: {
          200: {
            description: 'A row for each order, or for each of its lines or tax rates (`rows`).',
            content: { 'text/csv': { schema: Type.String() } }
          }
        }
      }
    },
    (request, reply) => {
      // A schema of its text is all that the document can say of a file, and it is sent as it is read.
      reply.type('text/csv; charset=utf-8').send(orders.exportCsv(request.query) as never)
    }
  )

  tiers.admin.get(
    '/admin/orders/:id',
    { config, schema: { ...own, summary: 'An order, with all that is known of it' } },
    request => orders.read(request.params.id)
  )

  tiers.admin.post(
    '/admin/orders/:id/cancel',
    {
      config: asks,
      schema: {
        summary: 'Cancel it, or some of it',
        description: '202: it is not known yet whether its payment can still be let go of.',
        params: IdParams,
        body: schema.CancelOrderRequest,
        response: { 200: schema.AdminOrderResponse, 202: schema.AdminOrderResponse }
      }
    },
    async (request, reply) => {
      const { lines, reason } = request.body
      const order = await orders.cancel(request.params.id, lines, doerOf(request, reason), writeOf(request))
      return reply
        .code(order.cancel_requested_by === null ? 200 : 202)
        .header('etag', `"${order.version}"`)
        .send(order)
    }
  )

  tiers.admin.post(
    '/admin/orders/:id/shipments',
    {
      config: asks,
      schema: { ...own, summary: 'Some of it is on its way, or all', body: schema.ShipmentRequest }
    },
    request => orders.ship(request.params.id, request.body, doerOf(request), writeOf(request))
  )

  tiers.admin.patch(
    '/admin/orders/:id/shipments/:shipment_id',
    {
      config,
      schema: {
        summary: 'Correct the carrier or the number of a parcel',
        params: schema.ShipmentParams,
        body: schema.RelabelRequest,
        response: { 200: schema.AdminOrderResponse }
      }
    },
    request => {
      const { reason, ...label } = request.body
      return orders.relabel(request.params, label, doerOf(request, reason), writeOf(request))
    }
  )

  tiers.admin.post(
    '/admin/orders/:id/shipments/:shipment_id/void',
    {
      config,
      schema: {
        summary: 'A parcel never left',
        description:
          'What is in it is still to be sent, and reserved as before. Money that was taken stays. Refused once its carrier has told of it.',
        params: schema.ShipmentParams,
        body: schema.VoidRequest,
        response: { 200: schema.AdminOrderResponse }
      }
    },
    request => {
      const { reason } = request.body
      return orders.voidShipment(request.params, reason, doerOf(request, reason), writeOf(request))
    }
  )

  tiers.admin.post(
    '/admin/orders/:id/shipments/:shipment_id/events/:event_id/void',
    {
      config,
      schema: {
        summary: 'What was told of a parcel was wrong',
        params: schema.EventParams,
        body: schema.VoidRequest,
        response: { 200: schema.AdminOrderResponse }
      }
    },
    request => {
      const { reason } = request.body
      return orders.voidEvent(request.params, reason, doerOf(request, reason), writeOf(request))
    }
  )

  tiers.admin.post(
    '/admin/orders/:id/returns',
    { config, schema: { ...own, summary: 'Some of it has come back', body: schema.ReturnRequest } },
    request => {
      const { lines, restock = true, reason } = request.body
      return orders.takeBack(request.params.id, { lines, restock }, doerOf(request, reason), writeOf(request))
    }
  )

  tiers.admin.post(
    '/admin/orders/:id/refunds',
    {
      config: asks,
      schema: { ...own, summary: 'Pay lines back, or an amount', body: schema.RefundOrderRequest }
    },
    request => {
      const { reason, ...refund } = request.body
      return orders.refund(request.params.id, refund, doerOf(request, reason), writeOf(request))
    }
  )

  tiers.admin.post(
    '/admin/orders/:id/transition',
    {
      config,
      schema: {
        ...own,
        summary: 'Hold or release it, or say that it is done',
        body: schema.TransitionRequest
      }
    },
    request => {
      const { action, reason } = request.body
      return orders.transition(request.params.id, action, doerOf(request, reason), writeOf(request))
    }
  )

  tiers.admin.post(
    '/admin/orders/:id/notes',
    { config, schema: { ...own, summary: 'Write something down', body: schema.OrderNoteRequest } },
    request => orders.note(request.params.id, doerOf(request, request.body.text), writeOf(request))
  )
}

const doerOf = (request: FastifyRequest, reason?: string): Doer => ({
  role: 'admin',
  actor: identityOf(request).userId,
  refunder: identityOf(request),
  reason: reason ?? null
})
