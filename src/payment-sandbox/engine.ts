import type {
  SandboxLedger,
  SandboxObject,
  SandboxStateChangeEntry,
  StoredSandboxResponse
} from './ledger.ts'
import {
  newSandboxCharge,
  newSandboxDispute,
  newSandboxEvent,
  newSandboxIntent,
  newSandboxRefund,
  type SandboxCharge,
  type SandboxIntent,
  type SandboxRefund
} from './objects.ts'

const DAY_SECONDS = 86_400

/** An error response, with Stripe's error codes. */
export class SandboxApiError extends Error {
  readonly status: number
  readonly body: unknown
  constructor(status: number, type: string, code: string, message: string, intent?: unknown) {
    super(message)
    this.status = status
    this.body = { error: { type, code, message, ...(intent !== undefined && { payment_intent: intent }) } }
  }
}
const objectNotFound = () =>
  new SandboxApiError(404, 'invalid_request_error', 'resource_missing', 'There is no such object.')

type LedgerChange = {
  objects: readonly SandboxObject[]
  events: readonly { type: string; object: SandboxObject }[]
}
export type SandboxEngine = ReturnType<typeof createSandboxEngine>

/** The state of the provider, without the network. Each change is one line of the ledger. */
export function createSandboxEngine(ledger: SandboxLedger, wallClock = () => Math.floor(Date.now() / 1_000)) {
  const objects = new Map<string, SandboxObject>()
  const events = new Map<string, SandboxObject>()
  const responses = new Map<string, StoredSandboxResponse>()
  const undelivered = new Set<string>()
  let advanced = 0

  const now = () => wallClock() + advanced
  function apply({
    objects: changed = [],
    events: newEvents = [],
    answer,
    delivered,
    advanced: by = 0
  }: SandboxStateChangeEntry) {
    for (const object of changed) objects.set(object.id, object)
    for (const event of newEvents) {
      events.set(event.id, event)
      undelivered.add(event.id)
    }
    if (answer !== undefined) responses.set(answer.key, answer)
    if (delivered !== undefined) undelivered.delete(delivered)
    advanced += by
  }
  for (const entry of ledger.entries) apply(entry)
  const write = (entry: Omit<SandboxStateChangeEntry, 'at'>) => {
    const dated = { at: now(), ...entry }
    ledger.append(dated)
    apply(dated)
  }

  const find = <T extends SandboxObject>(kind: T['object'], id: unknown): T => {
    const object = objects.get(String(id))
    if (object?.object !== kind) throw objectNotFound()
    return object as T
  }
  const all = <T extends SandboxObject>(kind: T['object'], fits: (object: T) => boolean): T[] =>
    [...objects.values()].filter(object => object.object === kind && fits(object as T)) as T[]

  /** Returns an intent with its charge, refunds and dispute, like `expand` of Stripe. */
  function expand(intent: SandboxIntent): SandboxObject {
    const charge = objects.get(intent.latest_charge ?? '')
    if (charge === undefined) return intent
    const data = all<SandboxRefund>('refund', refund => refund.charge === charge.id)
    const [dispute = null] = all('dispute', ({ charge: of }) => of === charge.id)
    return {
      ...intent,
      latest_charge: { ...charge, refunds: { object: 'list', data, has_more: false }, dispute }
    }
  }
  const chargeOf = (intent: SandboxIntent) => find<SandboxCharge>('charge', intent.latest_charge)
  /** Events contain the objects as they are after the change. */
  const changed = (type: string, intent: SandboxIntent, ...others: SandboxObject[]): LedgerChange => ({
    objects: [intent, ...others],
    events: [{ type, object: intent }]
  })
  const unexpectedState = (intent: SandboxIntent) =>
    new SandboxApiError(
      400,
      'invalid_request_error',
      'payment_intent_unexpected_state',
      `The payment is ${intent.status}.`,
      expand(intent)
    )

  function captured(intent: SandboxIntent, charge: SandboxCharge, amount: number): LedgerChange {
    return changed(
      'payment_intent.succeeded',
      { ...intent, status: 'succeeded', amount_received: amount, amount_capturable: 0, next_action: null },
      { ...charge, captured: true, amount_captured: amount }
    )
  }

  const operations = {
    create: (body: Record<string, unknown>): LedgerChange => {
      const { amount, currency, capture_method = 'automatic', metadata = {} } = body
      if (!Number.isSafeInteger(amount) || Number(amount) <= 0 || !/^[a-z]{3}$/.test(String(currency)))
        throw new SandboxApiError(
          400,
          'invalid_request_error',
          'parameter_invalid',
          'amount or currency is wrong.'
        )
      const intent = newSandboxIntent(now(), { amount, currency, capture_method, metadata } as Parameters<
        typeof newSandboxIntent
      >[1])
      return changed('payment_intent.created', intent)
    },
    /** The customer pays on the payment page. */
    pay: (intent: SandboxIntent, method: string): LedgerChange => {
      if (!['requires_payment_method', 'requires_action'].includes(intent.status))
        throw unexpectedState(intent)
      const charge = newSandboxCharge(now(), intent)
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
    requireAction: (intent: SandboxIntent, method: string): LedgerChange => {
      if (intent.status !== 'requires_payment_method') throw unexpectedState(intent)
      return changed('payment_intent.requires_action', {
        ...intent,
        status: 'requires_action',
        payment_method: method
      })
    },
    fail: (intent: SandboxIntent, method: string): LedgerChange => {
      if (!['requires_payment_method', 'requires_action'].includes(intent.status))
        throw unexpectedState(intent)
      const error = { code: 'card_declined', type: 'card_error', payment_method: { id: method } }
      return changed('payment_intent.payment_failed', {
        ...intent,
        status: 'requires_payment_method',
        payment_method: null,
        last_payment_error: error
      })
    },
    capture: (
      intent: SandboxIntent,
      { amount_to_capture: amount = intent.amount }: Record<string, unknown>
    ): LedgerChange => {
      if (intent.status !== 'requires_capture') throw unexpectedState(intent)
      if (!Number.isSafeInteger(amount) || Number(amount) <= 0 || Number(amount) > intent.amount)
        throw new SandboxApiError(
          400,
          'invalid_request_error',
          'amount_too_large',
          'The amount exceeds the authorized amount.'
        )
      return captured(intent, chargeOf(intent), Number(amount))
    },
    /** Captures a canceled intent, as can happen at a real provider. */
    captureLate: (intent: SandboxIntent): LedgerChange => {
      const charge = intent.latest_charge === null ? newSandboxCharge(now(), intent) : chargeOf(intent)
      return captured({ ...intent, latest_charge: charge.id }, charge, intent.amount)
    },
    cancel: (intent: SandboxIntent, reason: string | null = null): LedgerChange => {
      if (['succeeded', 'canceled'].includes(intent.status)) throw unexpectedState(intent)
      const over = {
        status: 'canceled',
        canceled_at: now(),
        cancellation_reason: reason,
        amount_capturable: 0
      }
      return changed('payment_intent.canceled', { ...intent, ...over, next_action: null })
    },
    refund: ({ payment_intent, amount, metadata = {} }: Record<string, unknown>): LedgerChange => {
      const intent = find<SandboxIntent>('payment_intent', payment_intent)
      if (intent.status !== 'succeeded') throw unexpectedState(intent)
      const charge = chargeOf(intent)
      const given = all<SandboxRefund>(
        'refund',
        ({ charge: of, status }) => of === charge.id && status !== 'failed'
      )
      const left = charge.amount_captured - given.reduce((sum, each) => sum + each.amount, 0)
      const wanted = Number(amount ?? left)
      if (!Number.isSafeInteger(wanted) || wanted <= 0 || wanted > left)
        throw new SandboxApiError(
          400,
          'invalid_request_error',
          'charge_already_refunded',
          `${left} can be refunded.`
        )
      const refund = newSandboxRefund(now(), charge, wanted, metadata as Record<string, string>)
      const refunded = { ...charge, amount_refunded: charge.amount_captured - left + wanted }
      return { objects: [refund, refunded], events: [{ type: 'refund.created', object: refund }] }
    },
    failRefund: (refund: SandboxRefund): LedgerChange => {
      const failed = { ...refund, status: 'failed', failure_reason: 'lost_or_stolen_card' }
      const charge = find<SandboxCharge>('charge', refund.charge)
      const back = { ...charge, amount_refunded: charge.amount_refunded - refund.amount }
      return { objects: [failed, back], events: [{ type: 'refund.failed', object: failed }] }
    },
    dispute: (intent: SandboxIntent): LedgerChange => {
      const charge = chargeOf(intent)
      const dispute = newSandboxDispute(now(), charge, charge.amount_captured)
      const disputed = { ...charge, disputed: true }
      return { objects: [dispute, disputed], events: [{ type: 'charge.dispute.created', object: dispute }] }
    }
  }

  return {
    now,
    operations,
    expand,
    intent: (id: unknown) => find<SandboxIntent>('payment_intent', id),
    refund: (id: unknown) => find<SandboxRefund>('refund', id),
    intentsOf: (paymentId: string) =>
      all<SandboxIntent>('payment_intent', ({ metadata }) => metadata.payment_id === paymentId).map(expand),
    refundsOf: (operationId: string) =>
      all<SandboxRefund>('refund', ({ metadata }) => metadata.operation_id === operationId),
    /** Lists objects created since a time, latest first, after the object with the id `after`. */
    listCreatedSince: (kind: string, since: number, after: string | null, limit: number) => {
      const listed = all(kind, ({ created }) => Number(created) >= since).toReversed()
      const start = after === null ? 0 : listed.findIndex(({ id }) => id === after) + 1
      const data = listed.slice(start, start + limit)
      const shown = data.map(each =>
        each.object === 'payment_intent' ? expand(each as SandboxIntent) : each
      )
      return { object: 'list', data: shown, has_more: start + limit < listed.length }
    },
    refundsOfIntent: (intentId: string) =>
      all<SandboxRefund>('refund', ({ payment_intent }) => payment_intent === intentId),
    /** Writes a change and the response stored for its key. Returns the first changed object. */
    commit: (
      { objects: changedObjects, events: newEvents }: LedgerChange,
      key?: { key: string; fingerprint: string }
    ): SandboxObject => {
      for (const object of changedObjects) objects.set(object.id, object)
      const shown = (object: SandboxObject) =>
        object.object === 'payment_intent' ? expand(object as SandboxIntent) : object
      const [first] = changedObjects
      if (first === undefined) throw new Error('nothing was changed')
      const body = shown(first)
      write({
        objects: changedObjects,
        events: newEvents.map(({ type, object }) => newSandboxEvent(now(), type, shown(object))),
        ...(key && { answer: { ...key, status: 200, body, at: now() } })
      })
      return body
    },
    storeError: (key: { key: string; fingerprint: string }, { status, body }: SandboxApiError) =>
      write({ answer: { ...key, status, body, at: now() } }),
    storedResponse: (key: string): StoredSandboxResponse | undefined => {
      const stored = responses.get(key)
      return stored !== undefined && now() - stored.at < DAY_SECONDS ? stored : undefined
    },
    advance: (seconds: number) => write({ advanced: seconds }),
    undelivered: () => [...undelivered].flatMap(id => events.get(id) ?? []),
    delivered: (id: string) => write({ delivered: id })
  }
}
