import type { FastifyRequest } from 'fastify'
import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { Type } from '../../../kernel/schema.ts'
import { IdParams, withResponseDescription } from '../../../kernel/wire.ts'
import type { OrderActor } from '../lifecycle/service.ts'
import * as schema from './schema.ts'
import type { OrderAdministration } from './service.ts'

const config = { class: 'account' } as const
const withProvider = { class: 'checkout' } as const
const own = { params: IdParams, response: { 200: schema.AdminOrderResponse } }

export function orderAdministrationRoutes(tiers: Tiers, orders: OrderAdministration): void {
  tiers.admin.get(
    '/admin/orders',
    {
      config,
      schema: {
        summary: 'List orders',
        description:
          'Returns a page of all orders that match the filters, newest first, without their items. Poll for changes with `updated_since`. Needs an administrator with access to orders. 400 `UPDATED_SINCE_FILTERED`: send `updated_since` without filters.',
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
        summary: 'Export orders',
        description:
          'Returns all orders that match the filters as a CSV file, newest first. `rows` selects one row per order, per line or per tax rate. The file is streamed.',
        querystring: schema.OrderExportQuery,
        response: {
          200: {
            description: 'A CSV file with one row per order, line or tax rate.',
            content: { 'text/csv': { schema: Type.String() } }
          }
        }
      }
    },
    (request, reply) => {
      // `as never`, because the schema of a file in the document is a string, and the file is sent as a
      // stream.
      const file = orders.exportCsv(request.query, () => request.slot?.reportProgress())
      reply.type('text/csv; charset=utf-8').send(file as never)
    }
  )

  tiers.admin.get(
    '/admin/orders/:id',
    {
      config,
      schema: {
        ...own,
        summary: 'Retrieve an order of any buyer',
        description:
          'Returns an order of any buyer, with items, amounts, shipments, adjustments and history. `next_actions` lists what an administrator can do now. 404 `ORDER_NOT_FOUND`: the order does not exist.'
      }
    },
    request => orders.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/orders/:id',
    {
      config,
      schema: {
        ...own,
        summary: 'Update an order',
        description:
          'Changes `metadata` and `private_metadata` of an order, in any state. Sent keys are set, null deletes a key, and other keys stay. Metadata that stays equal keeps the version. Buyers see `metadata`; only administrators see `private_metadata`. 400 `METADATA_LIMIT`: the order would have too many keys; delete some. 409 `METADATA_ERASED`: the order was erased; send only null. 412 `ORDER_STALE`: read the order again.',
        body: schema.UpdateOrderRequest
      }
    },
    request => orders.update(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.post(
    '/admin/orders/:id/cancel',
    {
      config: withProvider,
      schema: {
        summary: 'Cancel an order',
        description:
          'Cancels an order that is not shipped, or, with `lines`, units that are not shipped. Authorized payments are voided and captured money is refunded. 202: a payment provider has not confirmed yet; read the order again later. 409 `ORDER_NOT_CANCELABLE` or `ORDER_ACTION_REFUSED`: `reason` states why; omit `lines` to cancel everything. 409 `ORDER_UNITS_SHORT`: `items` state how many units can be canceled. 403 `AUTH_RECENT_LOGIN_REQUIRED` or `PAYMENT_REFUND_LIMIT`: the refund needs a recent login of an administrator.',
        params: IdParams,
        body: schema.CancelOrderRequest,
        response: {
          200: withResponseDescription(schema.AdminOrderResponse, 'The order or its `lines` are canceled.'),
          202: withResponseDescription(
            schema.AdminOrderResponse,
            'The cancellation is requested. A payment provider has not confirmed it yet.'
          )
        }
      }
    },
    async (request, reply) => {
      const { lines, reason } = request.body
      const order = await orders.cancel(request.params.id, lines, actorOf(request, reason), writeOf(request))
      return reply
        .code(order.cancel_requested_by === null ? 200 : 202)
        .header('etag', `"${order.version}"`)
        .send(order)
    }
  )

  tiers.admin.post(
    '/admin/orders/:id/shipments',
    {
      config: withProvider,
      schema: {
        ...own,
        summary: 'Create a shipment',
        description:
          'Records that units of a placed order were shipped: those in `lines`, or all remaining ones. The first shipment captures the authorized payment. Stock is deducted and `orders.shipped` is emitted. 400 `SHIPPING_NUMBER_INVALID`: the carrier does not use such numbers; correct it or send `unchecked: true`. 409 `ORDER_UNITS_SHORT`: `items` state how many units are left. 409 `ORDER_ACTION_REFUSED`: `reason` states which condition is not met.',
        body: schema.CreateShipmentRequest
      }
    },
    request => orders.ship(request.params.id, request.body, actorOf(request), writeOf(request))
  )

  tiers.admin.patch(
    '/admin/orders/:id/shipments/:shipment_id',
    {
      config,
      schema: {
        summary: 'Update a shipment',
        description:
          'Corrects the carrier or the tracking number of a shipment; omitted fields stay. `former` keeps the earlier values. 400 `SHIPPING_NUMBER_INVALID`: the carrier does not use such numbers; correct it or send `unchecked: true`. 404 `ORDER_SHIPMENT_NOT_FOUND`: the order has no such shipment. 409 `ORDER_ACTION_REFUSED`: `reason` states which condition is not met.',
        params: schema.OrderShipmentParams,
        body: schema.RelabelShipmentRequest,
        response: { 200: schema.AdminOrderResponse }
      }
    },
    request => {
      const { reason, ...label } = request.body
      return orders.relabel(request.params, label, actorOf(request, reason), writeOf(request))
    }
  )

  tiers.admin.post(
    '/admin/orders/:id/shipments/:shipment_id/void',
    {
      config,
      schema: {
        summary: 'Void a shipment',
        description:
          'Reverts a shipment that was recorded by mistake. Its units must be shipped again and their stock is reserved again. Captured money stays captured. Voiding it again changes nothing. 409 `SHIPPING_SHIPMENT_LEFT`: the carrier has reported events; void these first if they are wrong. 409 `ORDER_ACTION_REFUSED`: units are digital, returned or refunded; see `reason`.',
        params: schema.OrderShipmentParams,
        body: schema.VoidShipmentRequest,
        response: { 200: schema.AdminOrderResponse }
      }
    },
    request => {
      const { reason } = request.body
      return orders.voidShipment(request.params, reason, actorOf(request, reason), writeOf(request))
    }
  )

  tiers.admin.post(
    '/admin/orders/:id/shipments/:shipment_id/events/:event_id/void',
    {
      config,
      schema: {
        summary: 'Void a tracking event',
        description:
          'Removes the effect of a wrong tracking event, for example a false delivery. An order that was completed automatically because of it is reopened. Voiding the event again changes nothing. 404 `SHIPPING_EVENT_NOT_FOUND`: the shipment has no such event. 409 `ORDER_ACTION_REFUSED`: units were returned or refunded since then; see `reason`.',
        params: schema.TrackingEventParams,
        body: schema.VoidShipmentRequest,
        response: { 200: schema.AdminOrderResponse }
      }
    },
    request => {
      const { reason } = request.body
      return orders.voidEvent(request.params, reason, actorOf(request, reason), writeOf(request))
    }
  )

  tiers.admin.post(
    '/admin/orders/:id/returns',
    {
      config,
      schema: {
        ...own,
        summary: 'Create a return',
        description:
          'Records that shipped units came back, and restocks them unless `restock` is false. It refunds nothing: create a refund with the same `lines`. 409 `ORDER_UNITS_SHORT`: `items` state how many units can be returned. 409 `ORDER_ACTION_REFUSED`: `reason` states which condition is not met.',
        body: schema.ReturnOrderUnitsRequest
      }
    },
    request => {
      const { lines, restock = true, reason } = request.body
      return orders.takeBack(
        request.params.id,
        { lines, restock },
        actorOf(request, reason),
        writeOf(request)
      )
    }
  )

  tiers.admin.post(
    '/admin/orders/:id/refunds',
    {
      config: withProvider,
      schema: {
        ...own,
        summary: 'Refund an order',
        description:
          'Credits shipped `lines` or an `amount`, and refunds what was paid beyond the new total. An unpaid part is no longer due. Returned units are not required. 400 `ORDER_CREDIT_UNCLEAR`: send either `lines` or `amount`. 409 `ORDER_CREDIT_TOO_MUCH`: `available` is the most that can be credited. 403 `AUTH_RECENT_LOGIN_REQUIRED` or `PAYMENT_REFUND_LIMIT`: large refunds need a recent login of an administrator.',
        body: schema.RefundOrderRequest
      }
    },
    request => {
      const { reason, ...refund } = request.body
      return orders.refund(request.params.id, refund, actorOf(request, reason), writeOf(request))
    }
  )

  tiers.admin.post(
    '/admin/orders/:id/transition',
    {
      config,
      schema: {
        ...own,
        summary: "Update an order's state",
        description:
          'Holds, releases, completes or reopens an order. `hold` stops it from being shipped until `release`. `complete` closes a placed order with nothing left to ship. `reopen` returns a completed order to processing. 409 `ORDER_ACTION_REFUSED`: `reason` states which condition is not met.',
        body: schema.OrderTransitionRequest
      }
    },
    request => {
      const { action, reason } = request.body
      return orders.transition(request.params.id, action, actorOf(request, reason), writeOf(request))
    }
  )

  tiers.admin.post(
    '/admin/orders/:id/notes',
    {
      config,
      schema: {
        ...own,
        summary: 'Add a note',
        description:
          'Adds a note to the history of an order, in any state. Only administrators see notes. Returns the order.',
        body: schema.OrderNoteRequest
      }
    },
    request => orders.note(request.params.id, actorOf(request, request.body.text), writeOf(request))
  )
}

const actorOf = (request: FastifyRequest, reason?: string): OrderActor => ({
  role: 'admin',
  id: identityOf(request).userId,
  refunder: identityOf(request),
  reason: reason ?? null
})
