import type { Book } from './book.ts'
import {
  brokenEffects,
  brokenPayments,
  EFFECTS,
  type EffectRow,
  PAYMENTS,
  type PaymentRow
} from './effects.ts'
import { type LedgerBooks, readLedger } from './ledger.ts'
import { brokenRefunds, type OrderMoney } from './money.ts'
import { brokenNotices, type OrderNotices } from './notices.ts'
import { missingKinds } from './operations.ts'
import type { Stage } from './stage.ts'
import { brokenLevels, type LevelRow } from './stock.ts'

const LEVELS = `
  select item_id as variant_id, code as location, on_hand from inventory.levels
  join inventory.locations on locations.id = location_id`
/** Orders with what each line costs, and the money of providers that keep no ledger. */
const ORDERS = `
  select id, number, state = 'canceled' as "isCanceled", total::float8,
    (select json_agg(json_build_object('line', line, 'quantity', ordered, 'payable', (
        select coalesce(sum(amount), 0) from orders.components
        where components.order_id = orders.id and components.line = lines.line and not included)))
      from orders.lines where order_id = orders.id) as lines,
    (select coalesce(sum(captured), 0)::float8 from payments.payments
      where order_id = orders.id and provider = 'manual') as taken,
    (select coalesce(sum(amount), 0)::float8 from payments.operations
      where order_id = orders.id and provider = 'manual' and kind = 'refund' and state = 'succeeded') as given
  from orders.orders`
const REFUSED = `
  select id, order_id, amount::float8 from payments.operations where kind = 'refund' and state = 'failed'`

const NOTICES = `
  select id, number, placed_at is not null as "isPlaced", state = 'canceled' as "isCanceled",
    (select coalesce(json_agg(json_build_object('id', id, 'isVoided', voided_at is not null)), '[]')
      from orders.shipments where order_id = orders.id) as shipments,
    (select coalesce(json_agg(id), '[]') from orders.adjustments where order_id = orders.id) as credits
  from orders.orders`

type OrderRow = Omit<OrderMoney, 'refused' | 'isKeptBack'>
type RefusedRow = { id: string; order_id: string; amount: number }

/** Where the shop does not hold exactly what its administrators were acknowledged, as sentences. */
export async function brokenOperations(
  { site, sandbox, goods, receivers }: Pick<Stage, 'site' | 'sandbox' | 'goods' | 'receivers'>,
  book: Book
): Promise<string[]> {
  const rows = async <T>(text: string) => (await site.sql(text)) as T[]
  const money = moneyOf(await rows(ORDERS), await rows(REFUSED), await readLedger(sandbox.folder), book)
  const { webhooks } = receivers
  const notices = { webhooks, mails: receivers.mails() }
  return [
    ...missingKinds(book).map(kind => `no operation of the kind "${kind}" was ever acknowledged`),
    ...brokenEffects(book.operations, await rows<EffectRow>(EFFECTS)),
    ...brokenPayments(book.operations, await rows<PaymentRow>(PAYMENTS)),
    ...brokenRefunds(book.operations, money),
    ...brokenLevels(goods, book.operations, await rows<LevelRow>(LEVELS)),
    ...brokenNotices(book.operations, await rows<OrderNotices>(NOTICES), notices)
  ]
}

/** Adds what the provider's ledger says of each order. */
export function moneyOf(
  orders: readonly OrderRow[],
  refused: readonly RefusedRow[],
  { intents, charges, refunds }: Pick<LedgerBooks, 'intents' | 'charges' | 'refunds'>,
  { keptBack }: Pick<Book, 'keptBack'>
): OrderMoney[] {
  const orderOf = new Map(intents.map(({ id, metadata }) => [id, metadata.order_id]))
  const isMade = new Set(refunds.map(({ metadata }) => metadata.operation_id))
  const sum = (amounts: readonly number[]) => amounts.reduce((all, each) => all + each, 0)
  return orders.map(order => {
    const isOwn = ({ payment_intent }: { payment_intent: string }) => orderOf.get(payment_intent) === order.id
    const refusals = refused.filter(({ id, order_id }) => order_id === order.id && !isMade.has(id))
    return {
      ...order,
      taken: order.taken + sum(charges.filter(isOwn).map(charge => charge.amount_captured)),
      given: order.given + sum(refunds.filter(isOwn).map(({ amount }) => amount)),
      refused: sum(refusals.map(({ amount }) => amount)),
      isKeptBack: [...keptBack].some(id => orderOf.get(id) === order.id)
    }
  })
}
