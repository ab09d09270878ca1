import { type Kind, NOTE_PREFIX, type Operation } from './operations.ts'

/** How often something with this note was done, and what its amounts add up to. */
export type EffectRow = { note: string; effect: string; times: number; amount: number | null }

/** All that the shop keeps with the note of an operation. */
export const EFFECTS = `
  select note, effect, count(*)::int as times, sum(amount)::float8 as amount from (
    select reason as note, 'history: ' || action as effect, null::bigint as amount from orders.history
    union all select reason, 'credit', amount from orders.adjustments
    union all select reason, 'money back, decided', back from orders.adjustments
    union all select reason, 'money back, requested', amount from payments.operations where kind = 'refund'
    union all select reason, 'stock: ' || kind, on_hand_delta from inventory.movements
    union all select tracking_number, 'shipment', null from orders.shipments
  ) as effects where note like '${NOTE_PREFIX}%' group by note, effect`

/** What an acknowledged operation does exactly once. */
const ONCE: Readonly<Record<Kind, readonly string[]>> = {
  ship: ['shipment'],
  'void shipment': ['history: void_shipment'],
  return: ['history: return'],
  'return without restock': ['history: return'],
  'refund lines': ['history: refund', 'credit'],
  'refund amount': ['history: refund', 'credit'],
  'refund payment': ['money back, requested'],
  'cancel lines': ['history: cancel_lines', 'credit'],
  // An order that is being canceled is not canceled again.
  cancel: [],
  // What providers are requested has no note: `brokenPayments` counts it.
  capture: [],
  'void payment': [],
  'adjust stock': ['stock: adjust'],
  // A count of what was known already moves nothing.
  'count stock': [],
  'add note': ['history: note']
}
/** Of which effect the amount is that of the operation. */
const AMOUNT: Partial<Record<Kind, string>> = {
  'refund amount': 'credit',
  'refund payment': 'money back, requested',
  'adjust stock': 'stock: adjust'
}

/** Where an operation does not have exactly the effects that were acknowledged, as sentences. */
export function brokenEffects(operations: readonly Operation[], rows: readonly EffectRow[]): string[] {
  const byNote = Map.groupBy(rows, ({ note }) => note)
  const known = new Set(operations.map(({ note }) => note))
  return [
    ...operations.flatMap(operation => brokenOf(operation, byNote.get(operation.note) ?? [])),
    ...rows
      .filter(({ note }) => !known.has(note))
      .map(({ note, effect }) => `${effect} of ${note}, which no operation has`)
  ]
}

function brokenOf({ kind, note, state, about }: Operation, rows: readonly EffectRow[]): string[] {
  if (state === 'unanswered') return []
  if (state === 'refused')
    return rows.map(({ effect, times }) => `${kind} ${note} was refused, and did ${effect} ${times} times`)
  const timesOf = (effect: string) => rows.find(each => each.effect === effect)?.times ?? 0
  const amountOf = (effect: string) => rows.find(each => each.effect === effect)?.amount ?? 0
  const broken = ONCE[kind]
    .filter(effect => timesOf(effect) !== 1)
    .map(effect => `${kind} ${note} was acknowledged once, and did ${effect} ${timesOf(effect)} times`)
  for (const { effect, times } of rows)
    if (times > 1 && !ONCE[kind].includes(effect) && !MANY.includes(effect))
      broken.push(`${kind} ${note} did ${effect} ${times} times`)
  const counted = AMOUNT[kind]
  if (counted !== undefined && amountOf(counted) !== about.amount)
    broken.push(`${kind} ${note} was of ${about.amount}, and did ${counted} of ${amountOf(counted)}`)
  const [decided, requested] = [amountOf(DECIDED), amountOf(REQUESTED)]
  if (timesOf('credit') > 0 && decided !== requested)
    broken.push(`${kind} ${note} gives ${decided} back, and providers were requested to give ${requested}`)
  return broken
}
const DECIDED = 'money back, decided'
const REQUESTED = 'money back, requested'
/** An order that was paid in parts is paid back in parts. */
const MANY: readonly string[] = [DECIDED, REQUESTED]

/** How often administrators had a provider capture or void a payment. */
export type PaymentRow = { payment_id: string; order_id: string; kind: 'capture' | 'void'; times: number }

export const PAYMENTS = `
  select payment_id, order_id, kind, count(*)::int as times from payments.operations
  where kind in ('capture', 'void') and actor is not null group by payment_id, order_id, kind`

/** Where providers were not requested as often as was acknowledged, as sentences. A shipment may capture what is held. */
export function brokenPayments(operations: readonly Operation[], rows: readonly PaymentRow[]): string[] {
  const acknowledged = operations.filter(({ state }) => state === 'acknowledged')
  const countOf = (kind: Kind, isOwn: (about: Operation['about']) => boolean) =>
    acknowledged.filter(each => each.kind === kind && isOwn(each.about)).length
  const lost = acknowledged.filter(
    ({ kind, about }) =>
      NAMES[kind] !== undefined &&
      !rows.some(row => row.payment_id === about.paymentId && row.kind === NAMES[kind])
  )
  return [
    ...lost.map(({ kind, about }) => `${kind} of ${about.paymentId} was acknowledged, and never requested`),
    ...rows.flatMap(({ payment_id, order_id, kind, times }) => {
      const name = kind === 'capture' ? 'capture' : 'void payment'
      const least = countOf(name, ({ paymentId }) => paymentId === payment_id)
      const shipped = kind === 'capture' ? countOf('ship', ({ orderId }) => orderId === order_id) : 0
      const isRight = times >= least && times <= least + shipped
      return isRight
        ? []
        : [`${kind} of ${payment_id} was acknowledged ${least} times, and requested ${times} times`]
    })
  ]
}
const NAMES: Partial<Record<Kind, PaymentRow['kind']>> = { capture: 'capture', 'void payment': 'void' }
