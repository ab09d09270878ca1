import type { ShopUnderFaults } from '../faults/network/shop-under-faults.ts'
import { brokenGiftCards } from '../support/gift-cards.ts'
import { brokenOperations } from './judge-operations.ts'
import { type FactRow, ledgerDifferences, type PaymentRow, readLedger } from './ledger.ts'
import { brokenRules } from './oracle.ts'
import { brokenPromises, type OrderRow } from './promises.ts'
import type { RunRecord } from './run-record.ts'
import type { ChaosStage } from './stage.ts'

/** Orders that gift cards paid for, for the report. */
const PAID_BY_GIFT_CARDS = `
  select count(*) as "gift cards: orders", count(*) filter (where tendered < total) as "gift cards: orders paid in part",
    count(*) filter (where state = 'canceled') as "gift cards: orders canceled",
    count(*) filter (where state <> 'canceled' and exists (
      select from orders.tenders where order_id = orders.id and refunded > 0)) as "gift cards: orders refunded to cards"
  from orders.orders where tendered > 0`

/** Returns every broken promise once the shop has settled: in the database, at the provider, and in acknowledged responses. */
export async function findBrokenPromises(stage: ChaosStage, record: RunRecord): Promise<string[]> {
  const { site, sandbox } = stage
  const orders = await rowsOf<OrderRow>(
    site,
    `select id, number, total::float8, note, state,
       (select json_object_agg(variant_id, units) from (
          select variant_id, sum(ordered) as units from orders.lines where order_id = orders.id group by variant_id
        ) as bought) as units,
       (select coalesce(json_object_agg(variant_id, units), '{}') from (
          select variant_id, sum(ordered) as units
          from orders.lines join orders.orders as expired on expired.id = order_id
          where orders.cart_id is not null and expired.cart_id is not null
            and expired.customer_id = orders.customer_id and expired.id <> orders.id and expired.state = 'canceled'
            and exists (select from orders.history where order_id = expired.id and action = 'cancel' and actor is null)
          group by variant_id
        ) as returned) as returned
     from orders.orders`
  )
  for (const [what, times] of Object.entries((await site.sql(PAID_BY_GIFT_CARDS))[0] ?? {}))
    record.counts.set(what, Number(times))
  return [
    ...record.wrong,
    ...(await brokenOperations(stage, record)),
    ...(await brokenLedgers(site, sandbox, record)),
    ...(await brokenGiftCards(site.sql)),
    ...brokenPromises(record, orders)
  ]
}

/** Returns the broken rules of the shop's tables, and their differences from the provider's ledger. */
export async function brokenLedgers(
  site: Pick<ShopUnderFaults, 'sql'>,
  { folder }: Pick<ChaosStage['sandbox'], 'folder'>,
  { takenLate, keptBack }: Pick<RunRecord, 'takenLate' | 'keptBack'>
): Promise<string[]> {
  const dues = await rowsOf<Due>(
    site,
    `select orders.id, due::float8, state = 'canceled' as is_canceled
     from orders.orders join payments.accounts on order_id = orders.id`
  )
  const events = await rowsOf<{ event_id: string }>(site, 'select event_id from payments.events')
  const shop = {
    payments: await rowsOf<PaymentRow>(
      site,
      `select id, object_id, amount::float8, currency from payments.payments where provider = 'sandbox'`
    ),
    facts: await rowsOf<FactRow>(
      site,
      `select kind, object_id, status, amount::float8, source from payments.facts where provider = 'sandbox'`
    ),
    takenLate,
    keptBack,
    eventIds: new Set(events.map(({ event_id: id }) => id)),
    due: new Map(dues.map(({ id, due, is_canceled: isCanceled }) => [id, { due, isCanceled }]))
  }
  return [...(await brokenRules(site)), ...ledgerDifferences(await readLedger(folder), shop)]
}

type Due = { id: string; due: number; is_canceled: boolean }

/** Returns the rows of a query, typed by the caller. */
const rowsOf = async <T>({ sql }: Pick<ShopUnderFaults, 'sql'>, text: string) => (await sql(text)) as T[]
