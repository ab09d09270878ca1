import {
  brokenEffects,
  brokenPayments,
  EFFECTS_QUERY,
  type EffectRow,
  PAYMENT_REQUESTS_QUERY,
  type PaymentRequestRow
} from './effects.ts'
import { type ProviderLedger, readLedger } from './ledger.ts'
import { brokenRefunds, type OrderMoney } from './money.ts'
import { brokenNotices, type OrderNotices } from './notices.ts'
import { missingKinds } from './operations.ts'
import type { RunRecord } from './run-record.ts'
import type { ChaosStage } from './stage.ts'
import { brokenLevels, type LevelRow } from './stock.ts'

const LEVELS = `
  select item_id as variant_id, code as location, on_hand from inventory.levels
  join inventory.locations on locations.id = location_id`
/** Orders with the price of each line, and the amounts of the manual provider, which has no ledger. */
const ORDERS = `
  select id, number, state = 'canceled' as "isCanceled", total::float8,
    (select json_agg(json_build_object('line', line, 'quantity', ordered, 'payable', (
        select coalesce(sum(amount), 0) from orders.components
        where components.order_id = orders.id and components.line = lines.line and not included)))
      from orders.lines where order_id = orders.id) as lines,
    (select coalesce(sum(captured), 0)::float8 from payments.payments
      where order_id = orders.id and provider = 'manual') as taken,
    (select coalesce(sum(amount), 0)::float8 from payments.operations
      where order_id = orders.id and provider = 'manual' and kind = 'refund' and state = 'succeeded') as given,
    tendered::float8,
    (select coalesce(sum(refunded), 0)::float8 from orders.tenders where order_id = orders.id) as returned
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

/** Returns a sentence for each difference between the acknowledged operations of administrators and the state of the shop. */
export async function brokenOperations(
  { site, sandbox, goods, receivers }: Pick<ChaosStage, 'site' | 'sandbox' | 'goods' | 'receivers'>,
  record: RunRecord
): Promise<string[]> {
  const rows = async <T>(text: string) => (await site.sql(text)) as T[]
  const money = moneyOf(await rows(ORDERS), await rows(REFUSED), await readLedger(sandbox.folder), record)
  const { webhooks } = receivers
  const notices = { webhooks, mails: receivers.mails() }
  return [
    ...missingKinds(record).map(kind => `no operation of the kind "${kind}" was ever acknowledged`),
    ...brokenEffects(record.operations, await rows<EffectRow>(EFFECTS_QUERY)),
    ...brokenPayments(record.operations, await rows<PaymentRequestRow>(PAYMENT_REQUESTS_QUERY)),
    ...brokenRefunds(record.operations, money),
    ...brokenLevels(goods, record.operations, await rows<LevelRow>(LEVELS)),
    ...brokenNotices(record.operations, await rows<OrderNotices>(NOTICES), notices)
  ]
}

/** Adds the amounts of the provider's ledger to each order. */
export function moneyOf(
  orders: readonly OrderRow[],
  refused: readonly RefusedRow[],
  { intents, charges, refunds }: Pick<ProviderLedger, 'intents' | 'charges' | 'refunds'>,
  { keptBack }: Pick<RunRecord, 'keptBack'>
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
