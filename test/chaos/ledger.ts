import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SandboxObject, SandboxStateChangeEntry } from '../../src/payment-sandbox/ledger.ts'
import type { SandboxCharge, SandboxIntent, SandboxRefund } from '../../src/payment-sandbox/objects.ts'

/** The provider's own ledger: its objects in their current state, and the events that the shop confirmed. */
export type ProviderLedger = {
  intents: SandboxIntent[]
  charges: SandboxCharge[]
  refunds: SandboxRefund[]
  disputes: SandboxObject[]
  events: SandboxObject[]
  /** Types of the confirmed events, by event id. */
  confirmed: Map<string, string>
  /** Number of events that the shop has not confirmed. */
  waiting: number
}
export type PaymentRow = {
  id: string
  object_id: string | null
  amount: number
  currency: string
}
export type FactRow = {
  kind: string
  object_id: string
  status: string
  amount: number
  source: string
}
/** What the shop has stored about payments. */
export type ShopPayments = {
  payments: readonly PaymentRow[]
  facts: readonly FactRow[]
  eventIds: ReadonlySet<string>
  /** Ids of payments that the provider captured without a request, and of payments with a refund that failed later. */
  takenLate: ReadonlySet<string>
  keptBack: ReadonlySet<string>
  /** Amount due of each order, by order id. */
  due: ReadonlyMap<string, { due: number; isCanceled: boolean }>
}

export async function readLedger(folder: string): Promise<ProviderLedger> {
  const text = await readFile(join(folder, 'ledger.jsonl'), 'utf8').catch(() => '')
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  const objects = new Map<string, SandboxObject>()
  const events = new Map<string, SandboxObject>()
  const confirmed = new Map<string, string>()
  for (const line of whole.split('\n').filter(each => each !== '')) {
    const entry = JSON.parse(line) as SandboxStateChangeEntry
    for (const object of entry.objects ?? []) objects.set(object.id, object)
    for (const event of entry.events ?? []) events.set(event.id, event)
    if (entry.delivered !== undefined)
      confirmed.set(entry.delivered, String(events.get(entry.delivered)?.type))
  }
  const of = <T extends SandboxObject>(kind: string) =>
    [...objects.values()].filter(({ object }) => object === kind) as T[]
  return {
    intents: of('payment_intent'),
    charges: of('charge'),
    refunds: of('refund'),
    disputes: of('dispute'),
    events: [...events.values()],
    confirmed,
    waiting: events.size - confirmed.size
  }
}

/** Returns the differences between the provider's ledger and the shop, as sentences. */
export function ledgerDifferences(ledger: ProviderLedger, shop: ShopPayments): string[] {
  return [
    ...unknownIntents(ledger, shop),
    ...missingFacts(
      ledger.intents.map(({ id, amount, status }) => ({
        id,
        kind: 'intent',
        // A canceled payment moves no money, so the shop accepts its status also with a wrong amount.
        amount: status === 'canceled' ? undefined : amount,
        status: INTENT[status] ?? 'pending'
      })),
      shop
    ),
    ...ledger.charges.flatMap(charge => missingFacts(factsOf(charge, ledger), shop)),
    ...missingFacts(
      ledger.refunds.map(refund => ({ ...refund, kind: 'refund' })),
      shop
    ),
    ...missingFacts(
      ledger.disputes.map(({ id, amount }) => ({ id, kind: 'dispute', amount })),
      shop
    ),
    ...inventedFacts(ledger, shop),
    ...executedTwice(ledger.intents, 'payment_id', 'payment'),
    ...executedTwice(ledger.refunds, 'operation_id', 'refund'),
    ...paidTwice(ledger, shop),
    ...[...ledger.confirmed]
      .filter(([id]) => !shop.eventIds.has(id))
      .map(([id, type]) => `the callback ${id} (${type}) was confirmed, and is not stored`)
  ]
}

/** Statuses that are not listed are undecided. */
const INTENT: Readonly<Record<string, string>> = {
  requires_capture: 'authorized',
  canceled: 'canceled',
  succeeded: 'succeeded'
}
type Expected = { id: string; kind: string; amount?: unknown; status?: unknown }

function factsOf(charge: SandboxCharge, { intents }: ProviderLedger): Expected[] {
  const { id, captured, amount_captured: amount } = charge
  if (captured) return [{ id, kind: 'capture', amount, status: 'succeeded' }]
  const intent = intents.find(each => each.id === charge.payment_intent)
  const isHeld = intent?.status === 'requires_capture'
  return [{ id, kind: 'authorization', amount: charge.amount, ...(isHeld && { status: 'held' }) }]
}

function missingFacts(expected: readonly Expected[], { facts }: ShopPayments): string[] {
  return expected.flatMap(({ id, kind, amount, status }) => {
    const fact = facts.find(each => each.kind === kind && each.object_id === id)
    if (fact === undefined) return [`the shop has no fact of the ${kind} ${id}`]
    if (amount !== undefined && fact.amount !== amount)
      return [`the ${kind} ${id} is of ${amount}, and the shop has ${fact.amount}`]
    const isSame = status === undefined || fact.status === status
    return isSame ? [] : [`the ${kind} ${id} is ${status}, and the shop has it as ${fact.status}`]
  })
}

function unknownIntents({ intents }: ProviderLedger, { payments, due }: ShopPayments): string[] {
  return intents.flatMap(({ id, amount, currency, status, metadata }) => {
    const ours = payments.find(payment => payment.id === metadata.payment_id)
    const about = `the provider's payment ${id} (${status})`
    if (ours === undefined) return [`${about} is unknown to the shop`]
    if (ours.object_id !== id) return [`${about} is stored with the id ${ours.object_id}`]
    if (ours.amount !== amount || ours.currency !== currency.toUpperCase())
      return [`${about} is of ${amount} ${currency}, and the shop has ${ours.amount} ${ours.currency}`]
    const isOver = status === 'succeeded' || status === 'canceled'
    const isCanceled = due.get(metadata.order_id ?? '')?.isCanceled === true
    return isCanceled && !isOver ? [`${about} can still take money for a canceled order`] : []
  })
}

function inventedFacts(ledger: ProviderLedger, { facts }: ShopPayments): string[] {
  const { intents, charges, refunds, disputes } = ledger
  const known = new Set([...intents, ...charges, ...refunds, ...disputes].map(({ id }) => id))
  return facts
    .filter(({ kind, source, object_id: id }) => source !== 'shop' && kind !== 'attempt' && !known.has(id))
    .map(({ kind, object_id: id }) => `the shop has a ${kind} ${id} that the provider does not have`)
}

/** Checks that each requested operation was executed once. */
function executedTwice(
  objects: readonly { id: string; metadata: Record<string, string> }[],
  by: string,
  what: string
): string[] {
  const ids = objects.map(({ metadata }) => metadata[by] ?? '')
  const twice = new Set(ids.filter((id, index) => id !== '' && ids.indexOf(id) !== index))
  return [...twice].map(id => `the provider executed the ${what} ${id} more than once`)
}

function paidTwice(
  { intents, charges, refunds }: ProviderLedger,
  { due, takenLate, keptBack }: ShopPayments
): string[] {
  const excused = new Set<string>()
  const kept = new Map<string, number>()
  for (const { id, metadata } of intents) {
    const sum = (all: readonly { payment_intent: string }[], of: (each: never) => number) =>
      all.filter(each => each.payment_intent === id).reduce((total, each) => total + of(each as never), 0)
    const taken = sum(charges, ({ amount_captured }: SandboxCharge) => amount_captured)
    const back = sum(refunds, ({ amount, status }: SandboxRefund) => (status === 'failed' ? 0 : amount))
    const orderId = metadata.order_id ?? ''
    const isCanceled = due.get(orderId)?.isCanceled === true
    // Everything that is captured for a canceled order is refunded.
    if (keptBack.has(id) || (takenLate.has(id) && !isCanceled)) excused.add(orderId)
    kept.set(orderId, (kept.get(orderId) ?? 0) + taken - back)
  }
  return [...kept].flatMap(([orderId, amount]) => {
    const order = due.get(orderId)
    if (order === undefined)
      return amount === 0 ? [] : [`${amount} was captured for ${orderId}, which is not an order`]
    const limit = order.isCanceled ? 0 : order.due
    return amount > limit && !excused.has(orderId)
      ? [`${amount} was captured for ${orderId}, and ${limit} is due`]
      : []
  })
}
