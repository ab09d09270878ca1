import { json, statement } from '../../../platform/postgres/statement.ts'

/** The tenders of a new order, in the order in which the buyer named them. */
export type NewTenderRow = { id: string; position: number; type: string; label: string; amount: number }

export const insertTenders = statement({
  name: 'orders.insert_tenders',
  takes: { order_id: 'uuid', tenders: json<readonly NewTenderRow[]>() },
  text: `
    insert into orders.tenders (id, order_id, position, type, label, amount)
    select id, $order_id, position, type, label, amount
    from jsonb_to_recordset($tenders) as rows (id uuid, position int, type text, label text, amount bigint)`
})
/** Lists the tenders of an order that the transaction has locked. */
export const listTenders = statement({
  name: 'orders.list_tenders',
  takes: { order_id: 'uuid' },
  gives: { id: 'uuid', type: 'text', amount: 'int8', refunded: 'int8' },
  text: 'select id, type, amount, refunded from orders.tenders where order_id = $order_id order by position'
})
export const addTenderRefunds = statement({
  name: 'orders.add_tender_refunds',
  takes: { ids: 'uuid[]', amounts: 'int8[]' },
  text: `
    update orders.tenders set refunded = refunded + new.amount
    from unnest($ids::uuid[], $amounts::bigint[]) as new (id, amount) where tenders.id = new.id`
})
/** Counts open orders that hold tenders of other types than these, and could have to refund them. */
export const countOrdersWithTendersOfOtherTypes = statement({
  name: 'orders.count_with_tenders_of_other_types',
  takes: { types: 'text[]' },
  gives: { type: 'text', total: 'int8' },
  text: `
    select type, count(distinct order_id) as total
    from orders.orders join orders.tenders on order_id = orders.id
    where tendered > 0 and state in ('pending', 'placed') and refunded < amount and type <> all($types::text[])
    group by type order by type`
})
