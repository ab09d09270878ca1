import { NOTE_PREFIX, type Operation, type OperationKind } from './operations.ts'

/** How often an effect with this note exists, and the sum of its amounts. */
export type EffectRow = { note: string; effect: string; times: number; amount: number | null }

/** Every stored effect with the note of an operation. */
export const EFFECTS_QUERY = `
  select note, effect, count(*)::int as times, sum(amount)::float8 as amount from (
    select reason as note, 'history: ' || action as effect, null::bigint as amount from orders.history
    union all select reason, 'credit', amount from orders.adjustments
    union all select adjustments.reason, 'refund, decided', back from orders.adjustments
      join orders.orders on orders.id = order_id and tendered = 0
    union all select reason, 'refund, requested', amount from payments.operations where kind = 'refund'
    union all select reason, 'stock: ' || kind, on_hand_delta from inventory.movements
    union all select tracking_number, 'shipment', null from orders.shipments
  ) as effects where note like '${NOTE_PREFIX}%' group by note, effect`

/** Effects that an acknowledged operation has exactly once. */
const EFFECTS_ONCE: Readonly<Record<OperationKind, readonly string[]>> = {
  ship: ['shipment'],
  'void shipment': ['history: void_shipment'],
  return: ['history: return'],
  'return without restock': ['history: return'],
  'refund lines': ['history: refund', 'credit'],
  'refund amount': ['history: refund', 'credit'],
  'refund payment': ['refund, requested'],
  'cancel lines': ['history: cancel_lines', 'credit'],
  // An order that is being canceled is not canceled again.
  cancel: [],
  // Requests to providers have no note; `brokenPayments` counts them.
  capture: [],
  'void payment': [],
  'adjust stock': ['stock: adjust'],
  // A count that equals the stored number moves nothing.
  'count stock': [],
  'add note': ['history: note']
}
/** The effect whose amount must equal the amount of the operation. */
const AMOUNT: Partial<Record<OperationKind, string>> = {
  'refund amount': 'credit',
  'refund payment': 'refund, requested',
  'adjust stock': 'stock: adjust'
}

/** Returns a sentence for each operation whose effects differ from its acknowledgement. */
export function brokenEffects(operations: readonly Operation[], rows: readonly EffectRow[]): string[] {
  const byNote = Map.groupBy(rows, ({ note }) => note)
  const known = new Set(operations.map(({ note }) => note))
  return [
    ...operations.flatMap(operation => brokenOf(operation, byNote.get(operation.note) ?? [])),
    ...rows
      .filter(({ note }) => !known.has(note))
      .map(({ note, effect }) => `${effect} of ${note}, a note of no operation`)
  ]
}

function brokenOf({ kind, note, state, about }: Operation, rows: readonly EffectRow[]): string[] {
  if (state === 'unanswered') return []
  if (state === 'refused')
    return rows.map(
      ({ effect, times }) => `${kind} ${note} was refused, and had the effect "${effect}" ${times} times`
    )
  const timesOf = (effect: string) => rows.find(each => each.effect === effect)?.times ?? 0
  const amountOf = (effect: string) => rows.find(each => each.effect === effect)?.amount ?? 0
  const broken = EFFECTS_ONCE[kind]
    .filter(effect => timesOf(effect) !== 1)
    .map(
      effect =>
        `${kind} ${note} was acknowledged once, and had the effect "${effect}" ${timesOf(effect)} times`
    )
  for (const { effect, times } of rows)
    if (times > 1 && !EFFECTS_ONCE[kind].includes(effect) && !REPEATABLE_EFFECTS.includes(effect))
      broken.push(`${kind} ${note} had the effect "${effect}" ${times} times`)
  const counted = AMOUNT[kind]
  if (counted !== undefined && amountOf(counted) !== about.amount)
    broken.push(
      `${kind} ${note} was of ${about.amount}, and had the effect "${counted}" with ${amountOf(counted)}`
    )
  const [decided, requested] = [amountOf(DECIDED), amountOf(REQUESTED)]
  // Without orders with tenders, which get a part of it.
  if (timesOf(DECIDED) > 0 && decided !== requested)
    broken.push(`${kind} ${note} refunds ${decided}, and providers were requested to refund ${requested}`)
  return broken
}
const DECIDED = 'refund, decided'
const REQUESTED = 'refund, requested'
/** Effects that may occur several times, because an order that was paid in parts is refunded in parts. */
const REPEATABLE_EFFECTS: readonly string[] = [DECIDED, REQUESTED]

/** How often administrators requested a capture or void of a payment. */
export type PaymentRequestRow = {
  payment_id: string
  order_id: string
  kind: 'capture' | 'void'
  times: number
}

export const PAYMENT_REQUESTS_QUERY = `
  select payment_id, order_id, kind, count(*)::int as times from payments.operations
  where kind in ('capture', 'void') and actor is not null group by payment_id, order_id, kind`

/** Returns a sentence for each payment whose requests differ from the acknowledged ones. A shipment may also request a capture. */
export function brokenPayments(
  operations: readonly Operation[],
  rows: readonly PaymentRequestRow[]
): string[] {
  const acknowledged = operations.filter(({ state }) => state === 'acknowledged')
  const countOf = (kind: OperationKind, isOwn: (about: Operation['about']) => boolean) =>
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
const NAMES: Partial<Record<OperationKind, PaymentRequestRow['kind']>> = {
  capture: 'capture',
  'void payment': 'void'
}
