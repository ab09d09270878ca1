import type { Entry, KeptAnswer, Ledger, StoredObject } from './ledger.ts'
import {
  type Charge,
  type Intent,
  newCharge,
  newDispute,
  newEvent,
  newIntent,
  newRefund,
  type Refund
} from './objects.ts'

const DAY_SECONDS = 86_400

/** What the caller is told instead of an object, in Stripe's words. */
export class Refused extends Error {
  readonly status: number
  readonly body: unknown
  constructor(status: number, type: string, code: string, message: string, intent?: unknown) {
    super(message)
    this.status = status
    this.body = { error: { type, code, message, ...(intent !== undefined && { payment_intent: intent }) } }
  }
}
const missing = () =>
  new Refused(404, 'invalid_request_error', 'resource_missing', 'There is no such object.')

type Changed = { objects: readonly StoredObject[]; events: readonly { type: string; object: StoredObject }[] }
export type Engine = ReturnType<typeof createEngine>

/** What a payment provider does, without the network: each change is one line of the ledger. */
export function createEngine(ledger: Ledger, wallClock = () => Math.floor(Date.now() / 1_000)) {
  const objects = new Map<string, StoredObject>()
  const events = new Map<string, StoredObject>()
  const answers = new Map<string, KeptAnswer>()
  const undelivered = new Set<string>()
  let advanced = 0

  const now = () => wallClock() + advanced
  function apply({ objects: changed = [], events: told = [], answer, delivered, advanced: by = 0 }: Entry) {
    for (const object of changed) objects.set(object.id, object)
    for (const event of told) {
      events.set(event.id, event)
      undelivered.add(event.id)
    }
    if (answer !== undefined) answers.set(answer.key, answer)
    if (delivered !== undefined) undelivered.delete(delivered)
    advanced += by
  }
  for (const entry of ledger.entries) apply(entry)
  const write = (entry: Omit<Entry, 'at'>) => {
    const dated = { at: now(), ...entry }
    ledger.append(dated)
    apply(dated)
  }

  const find = <T extends StoredObject>(kind: T['object'], id: unknown): T => {
    const object = objects.get(String(id))
    if (object?.object !== kind) throw missing()
    return object as T
  }
  const all = <T extends StoredObject>(kind: T['object'], fits: (object: T) => boolean): T[] =>
    [...objects.values()].filter(object => object.object === kind && fits(object as T)) as T[]

  /** With everything that belongs to it, as `expand` has it. */
  function expanded(intent: Intent): StoredObject {
    const charge = objects.get(intent.latest_charge ?? '')
    if (charge === undefined) return intent
    const data = all<Refund>('refund', refund => refund.charge === charge.id)
    const [dispute = null] = all('dispute', ({ charge: of }) => of === charge.id)
    return {
      ...intent,
      latest_charge: { ...charge, refunds: { object: 'list', data, has_more: false }, dispute }
    }
  }
  const chargeOf = (intent: Intent) => find<Charge>('charge', intent.latest_charge)
  /** The events say what is true once the change is made. */
  const changed = (type: string, intent: Intent, ...others: StoredObject[]): Changed => ({
    objects: [intent, ...others],
    events: [{ type, object: intent }]
  })
  const unexpected = (intent: Intent) =>
    new Refused(
      400,
      'invalid_request_error',
      'payment_intent_unexpected_state',
      `The payment is ${intent.status}.`,
      expanded(intent)
    )

  function captured(intent: Intent, charge: Charge, amount: number): Changed {
    return changed(
      'payment_intent.succeeded',
      { ...intent, status: 'succeeded', amount_received: amount, amount_capturable: 0, next_action: null },
      { ...charge, captured: true, amount_captured: amount }
    )
  }

  const operations = {
    create: (body: Record<string, unknown>): Changed => {
      const { amount, currency, capture_method = 'automatic', metadata = {} } = body
      if (!Number.isSafeInteger(amount) || Number(amount) <= 0 || !/^[a-z]{3}$/.test(String(currency)))
        throw new Refused(400, 'invalid_request_error', 'parameter_invalid', 'amount or currency is wrong.')
      const intent = newIntent(now(), { amount, currency, capture_method, metadata } as Parameters<
        typeof newIntent
      >[1])
      return changed('payment_intent.created', intent)
    },
    /** What the customer does on the page. */
    pay: (intent: Intent, method: string): Changed => {
      if (!['requires_payment_method', 'requires_action'].includes(intent.status)) throw unexpected(intent)
      const charge = newCharge(now(), intent)
      const paid = { ...intent, payment_method: method, latest_charge: charge.id, last_payment_error: null }
      if (intent.capture_method === 'automatic') return captured(paid, charge, intent.amount)
      const held = {
        ...paid,
        status: 'requires_capture',
        amount_capturable: intent.amount,
        next_action: null
      }
      return changed('payment_intent.amount_capturable_updated', held, charge)
    },
    requireAction: (intent: Intent, method: string): Changed => {
      if (intent.status !== 'requires_payment_method') throw unexpected(intent)
      return changed('payment_intent.requires_action', {
        ...intent,
        status: 'requires_action',
        payment_method: method
      })
    },
    fail: (intent: Intent, method: string): Changed => {
      if (!['requires_payment_method', 'requires_action'].includes(intent.status)) throw unexpected(intent)
      const error = { code: 'card_declined', type: 'card_error', payment_method: { id: method } }
      return changed('payment_intent.payment_failed', {
        ...intent,
        status: 'requires_payment_method',
        payment_method: null,
        last_payment_error: error
      })
    },
    capture: (
      intent: Intent,
      { amount_to_capture: amount = intent.amount }: Record<string, unknown>
    ): Changed => {
      if (intent.status !== 'requires_capture') throw unexpected(intent)
      if (!Number.isSafeInteger(amount) || Number(amount) <= 0 || Number(amount) > intent.amount)
        throw new Refused(400, 'invalid_request_error', 'amount_too_large', 'That much is not held.')
      return captured(intent, chargeOf(intent), Number(amount))
    },
    /** Captures what was canceled already: it happens. */
    captureLate: (intent: Intent): Changed => {
      const charge = intent.latest_charge === null ? newCharge(now(), intent) : chargeOf(intent)
      return captured({ ...intent, latest_charge: charge.id }, charge, intent.amount)
    },
    cancel: (intent: Intent, reason: string | null = null): Changed => {
      if (['succeeded', 'canceled'].includes(intent.status)) throw unexpected(intent)
      const over = {
        status: 'canceled',
        canceled_at: now(),
        cancellation_reason: reason,
        amount_capturable: 0
      }
      return changed('payment_intent.canceled', { ...intent, ...over, next_action: null })
    },
    refund: ({ payment_intent, amount, metadata = {} }: Record<string, unknown>): Changed => {
      const intent = find<Intent>('payment_intent', payment_intent)
      if (intent.status !== 'succeeded') throw unexpected(intent)
      const charge = chargeOf(intent)
      const given = all<Refund>('refund', ({ charge: of, status }) => of === charge.id && status !== 'failed')
      const left = charge.amount_captured - given.reduce((sum, each) => sum + each.amount, 0)
      const wanted = Number(amount ?? left)
      if (!Number.isSafeInteger(wanted) || wanted <= 0 || wanted > left)
        throw new Refused(400, 'invalid_request_error', 'charge_already_refunded', `${left} can be refunded.`)
      const refund = newRefund(now(), charge, wanted, metadata as Record<string, string>)
      const refunded = { ...charge, amount_refunded: charge.amount_captured - left + wanted }
      return { objects: [refund, refunded], events: [{ type: 'refund.created', object: refund }] }
    },
    failRefund: (refund: Refund): Changed => {
      const failed = { ...refund, status: 'failed', failure_reason: 'lost_or_stolen_card' }
      const charge = find<Charge>('charge', refund.charge)
      const back = { ...charge, amount_refunded: charge.amount_refunded - refund.amount }
      return { objects: [failed, back], events: [{ type: 'refund.failed', object: failed }] }
    },
    dispute: (intent: Intent): Changed => {
      const charge = chargeOf(intent)
      const dispute = newDispute(now(), charge, charge.amount_captured)
      const disputed = { ...charge, disputed: true }
      return { objects: [dispute, disputed], events: [{ type: 'charge.dispute.created', object: dispute }] }
    }
  }

  return {
    now,
    operations,
    expanded,
    intent: (id: unknown) => find<Intent>('payment_intent', id),
    refund: (id: unknown) => find<Refund>('refund', id),
    intentsOf: (paymentId: string) =>
      all<Intent>('payment_intent', ({ metadata }) => metadata.payment_id === paymentId).map(expanded),
    refundsOf: (operationId: string) =>
      all<Refund>('refund', ({ metadata }) => metadata.operation_id === operationId),
    /** Those made since then, the latest first, behind one of them. */
    madeSince: (kind: string, since: number, after: string | null, limit: number) => {
      const made = all(kind, ({ created }) => Number(created) >= since).toReversed()
      const start = after === null ? 0 : made.findIndex(({ id }) => id === after) + 1
      const data = made.slice(start, start + limit)
      const shown = data.map(each => (each.object === 'payment_intent' ? expanded(each as Intent) : each))
      return { object: 'list', data: shown, has_more: start + limit < made.length }
    },
    refundsOfIntent: (intentId: string) =>
      all<Refund>('refund', ({ payment_intent }) => payment_intent === intentId),
    /** Writes a change, with the answer that is kept for its key; answers what the first of its objects has become. */
    commit: (
      { objects: made, events: told }: Changed,
      key?: { key: string; fingerprint: string }
    ): StoredObject => {
      for (const object of made) objects.set(object.id, object)
      const shown = (object: StoredObject) =>
        object.object === 'payment_intent' ? expanded(object as Intent) : object
      const [first] = made
      if (first === undefined) throw new Error('nothing was changed')
      const body = shown(first)
      write({
        objects: made,
        events: told.map(({ type, object }) => newEvent(now(), type, shown(object))),
        ...(key && { answer: { ...key, status: 200, body, at: now() } })
      })
      return body
    },
    keepRefusal: (key: { key: string; fingerprint: string }, { status, body }: Refused) =>
      write({ answer: { ...key, status, body, at: now() } }),
    keptAnswer: (key: string): KeptAnswer | undefined => {
      const kept = answers.get(key)
      return kept !== undefined && now() - kept.at < DAY_SECONDS ? kept : undefined
    },
    advance: (seconds: number) => write({ advanced: seconds }),
    undelivered: () => [...undelivered].flatMap(id => events.get(id) ?? []),
    delivered: (id: string) => write({ delivered: id })
  }
}
