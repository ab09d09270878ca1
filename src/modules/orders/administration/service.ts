import type { Readable } from 'node:stream'
import { found } from '../../../kernel/errors.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { Doer } from '../changes/service.ts'
import { orderNotFound } from '../errors.ts'
import type { Fulfilment, Parcel } from '../fulfilment/service.ts'
import type { Units } from '../life/counters.ts'
import { findAnyOrder } from '../orders/repository.ts'
import type { OrderSummaryResponse } from '../orders/schema.ts'
import { summaryOf } from '../orders/view.ts'
import type { OrderActions } from './actions.ts'
import { exportCsv } from './export.ts'
import { filtersOf } from './filters.ts'
import * as repository from './repository.ts'
import type { AdminOrderResponse, OrderExportQuery, OrderListQuery } from './schema.ts'
import { adminViewOf } from './view.ts'

type Deps = { db: Database; actions: OrderActions; fulfilment: Fulfilment }

/** What administrators see of orders, and do to them. */
export function createOrderAdministration({ db, actions, fulfilment }: Deps) {
  /** @throws `ORDER_NOT_FOUND` */
  const read = async (id: string): Promise<AdminOrderResponse> =>
    adminViewOf(found(await db.first(findAnyOrder, { id }), orderNotFound))

  const after = async (id: string, done: Promise<unknown>): Promise<AdminOrderResponse> => {
    await done
    return read(id)
  }

  return {
    read,
    list: async ({ limit, cursor, count, ...query }: OrderListQuery): Promise<Page<OrderSummaryResponse>> => {
      const filters = filtersOf(query)
      const page = await readPage(
        {
          ...(limit !== undefined && { limit }),
          ...(cursor !== undefined && { cursor }),
          ...(count !== undefined && { count })
        },
        {
          name: 'all orders',
          filters,
          ...newestFirst,
          rows: place => db.rows(repository.listAllOrders, { ...filters, ...place }),
          total: () => db.first(repository.countAllOrders, filters)
        }
      )
      return { ...page, items: page.items.map(summaryOf) }
    },
    exportCsv: ({ rows, ...query }: OrderExportQuery): Readable => exportCsv(db, filtersOf(query), rows),
    cancel: (id: string, lines: readonly Units[] | undefined, doer: Doer, write: Write) =>
      after(id, actions.cancel(id, lines, doer, write)),
    ship: (id: string, parcel: Parcel, doer: Doer, write: Write) =>
      after(id, fulfilment.ship(id, parcel, doer, write)),
    relabel: (
      of: Parameters<Fulfilment['relabel']>[0],
      label: Parameters<Fulfilment['relabel']>[1],
      doer: Doer,
      write: Write
    ) => after(of.id, fulfilment.relabel(of, label, doer, write)),
    voidShipment: (of: Parameters<Fulfilment['voidShipment']>[0], reason: string, doer: Doer, write: Write) =>
      after(of.id, fulfilment.voidShipment(of, reason, doer, write)),
    voidEvent: (of: Parameters<Fulfilment['voidEvent']>[0], reason: string, doer: Doer, write: Write) =>
      after(of.id, fulfilment.voidEvent(of, reason, doer, write)),
    takeBack: (id: string, returned: Parameters<Fulfilment['takeBack']>[1], doer: Doer, write: Write) =>
      after(id, fulfilment.takeBack(id, returned, doer, write)),
    refund: (id: string, refund: Parameters<OrderActions['refund']>[1], doer: Doer, write: Write) =>
      after(id, actions.refund(id, refund, doer, write)),
    transition: (id: string, action: Parameters<OrderActions['transition']>[1], doer: Doer, write: Write) =>
      after(id, actions.transition(id, action, doer, write)),
    note: (id: string, doer: Doer, write: Write) => after(id, actions.note(id, doer, write))
  }
}
export type OrderAdministration = ReturnType<typeof createOrderAdministration>
