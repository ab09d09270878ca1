import type { Readable } from 'node:stream'
import { found } from '../../../kernel/errors.ts'
import { LOWEST_ID } from '../../../kernel/ids.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { ReadResourceFields } from '../../../kernel/resources.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import { readChangedRowsPage } from '../../../platform/postgres/changed-rows.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { orderNotFoundError } from '../errors.ts'
import type { FulfilmentService, ShipmentInput } from '../fulfilment/service.ts'
import type { OrderLineQuantity } from '../lifecycle/counters.ts'
import type { OrderActor } from '../lifecycle/service.ts'
import { findOrderOfAnyBuyer } from '../orders/repository.ts'
import { type OrderSummaryResponse, orderResource } from '../orders/schema.ts'
import { orderSummaryView } from '../orders/view.ts'
import type { AdminOrderActions } from './actions.ts'
import { exportOrdersAsCsv } from './export.ts'
import { type OrderFilters, orderFiltersOfQuery } from './filters.ts'
import * as repository from './repository.ts'
import type { AdminOrderResponse, OrderExportQuery, OrderListQuery, UpdateOrderRequest } from './schema.ts'
import { adminOrderView } from './view.ts'

type Deps = {
  db: Database
  actions: AdminOrderActions
  fulfilment: FulfilmentService
  fieldsOf: ReadResourceFields
}

/** Reads orders for administrators, and runs their actions. */
export function createOrderAdministration({ db, actions, fulfilment, fieldsOf }: Deps) {
  /** @throws `ORDER_NOT_FOUND` */
  const read = async (id: string): Promise<AdminOrderResponse> =>
    adminOrderView(found(await db.first(findOrderOfAnyBuyer, { id }), orderNotFoundError))

  const readAfter = async (id: string, action: Promise<unknown>): Promise<AdminOrderResponse> => {
    await action
    return read(id)
  }

  const listRows = ({ metadata, ...others }: OrderFilters, place: { after: string; limit: number }) =>
    metadata === null
      ? db.rows(repository.listAllOrders, { ...others, ...place })
      : db.rows(repository.listOrdersMatchingMetadata, { ...others, metadata, ...place })
  const countRows = ({ metadata, ...others }: OrderFilters) =>
    metadata === null
      ? db.first(repository.countAllOrders, others)
      : db.first(repository.countOrdersMatchingMetadata, { ...others, metadata })

  function listNewest({ limit, cursor, count, ...query }: OrderListQuery) {
    const filters = orderFiltersOfQuery(query)
    const page = {
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
      ...(count !== undefined && { count })
    }
    return readPage(page, {
      name: 'all orders',
      filters,
      ...newestFirst,
      rows: place => listRows(filters, place),
      total: () => countRows(filters)
    })
  }

  const listChanged = (query: OrderListQuery & { updated_since: string }) =>
    readChangedRowsPage(db, query, {
      name: 'all orders',
      start: { after: LOWEST_ID },
      rows: place => db.rows(repository.listOrdersChangedSince, place),
      placeOf: ({ changed_at: at, id: after }) => ({ after, at }),
      total: since => db.first(repository.countOrdersChangedSince, since)
    })

  return {
    read,
    list: async (query: OrderListQuery): Promise<Page<OrderSummaryResponse>> => {
      const { updated_since } = query
      const page =
        updated_since === undefined ? await listNewest(query) : await listChanged({ ...query, updated_since })
      return { ...page, items: page.items.map(orderSummaryView) }
    },
    exportCsv: ({ rows, ...query }: OrderExportQuery, onPage?: () => void): Readable =>
      exportOrdersAsCsv(db, orderFiltersOfQuery(query), rows, onPage, fieldsOf(orderResource, 'admin')),
    cancel: (
      id: string,
      lines: readonly OrderLineQuantity[] | undefined,
      actor: OrderActor,
      write: IdempotentWrite
    ) => readAfter(id, actions.cancel(id, lines, actor, write)),
    ship: (id: string, parcel: ShipmentInput, actor: OrderActor, write: IdempotentWrite) =>
      readAfter(id, fulfilment.ship(id, parcel, actor, write)),
    relabel: (
      of: Parameters<FulfilmentService['relabel']>[0],
      label: Parameters<FulfilmentService['relabel']>[1],
      actor: OrderActor,
      write: IdempotentWrite
    ) => readAfter(of.id, fulfilment.relabel(of, label, actor, write)),
    voidShipment: (
      of: Parameters<FulfilmentService['voidShipment']>[0],
      reason: string,
      actor: OrderActor,
      write: IdempotentWrite
    ) => readAfter(of.id, fulfilment.voidShipment(of, reason, actor, write)),
    voidEvent: (
      of: Parameters<FulfilmentService['voidEvent']>[0],
      reason: string,
      actor: OrderActor,
      write: IdempotentWrite
    ) => readAfter(of.id, fulfilment.voidEvent(of, reason, actor, write)),
    takeBack: (
      id: string,
      returned: Parameters<FulfilmentService['recordReturn']>[1],
      actor: OrderActor,
      write: IdempotentWrite
    ) => readAfter(id, fulfilment.recordReturn(id, returned, actor, write)),
    refund: (
      id: string,
      refund: Parameters<AdminOrderActions['refund']>[1],
      actor: OrderActor,
      write: IdempotentWrite
    ) => readAfter(id, actions.refund(id, refund, actor, write)),
    transition: (
      id: string,
      action: Parameters<AdminOrderActions['transition']>[1],
      actor: OrderActor,
      write: IdempotentWrite
    ) => readAfter(id, actions.transition(id, action, actor, write)),
    update: (id: string, body: UpdateOrderRequest, write: IdempotentWrite) =>
      readAfter(id, actions.updateMetadata(id, body, write)),
    note: (id: string, actor: OrderActor, write: IdempotentWrite) =>
      readAfter(id, actions.note(id, actor, write))
  }
}
export type OrderAdministration = ReturnType<typeof createOrderAdministration>
