import { hash } from 'node:crypto'
import { newId } from '../../../kernel/ids.ts'
import type { Database, Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { RowOf } from '../../../platform/postgres/statement.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { OrderPaymentAccountChanges } from '../accounts/changes.ts'
import type { LockedOrderPaymentAccount } from '../accounts/locked-account.ts'
import { callbackSignatureInvalidError, paymentProviderUnknownError } from '../errors.ts'
import type { PaymentFactRecorder } from '../facts/recorder.ts'
import {
  findPayment,
  findPaymentByProviderObjectId,
  type PaymentRow,
  paymentForProviderFromRow,
  storeProviderPaymentIdAndNextStep
} from '../payments/repository.ts'
import type { PaymentProviderCallbackEvent, UnreadablePaymentCallbackEvent } from '../providers/port.ts'
import type { PaymentProviderRegistry } from '../providers/registry.ts'
import { findPaymentProviderEventMismatch } from './mismatch.ts'
import * as repository from './repository.ts'
import { openProviderEvent, sealProviderEvent } from './stored-bytes.ts'

type Deps = {
  db: Database
  secrets: Secrets
  providers: PaymentProviderRegistry
  recorder: Pick<PaymentFactRecorder, 'recordFacts'>
  accounts: OrderPaymentAccountChanges
  /** Enqueues a job that applies the event after the commit. */
  wake: (tx: Transaction, id: string) => void
  count: (result: 'received' | 'repeated' | 'refused' | 'quarantined') => void
}
type StoredEvent = RowOf<typeof repository.findProviderEvent>
type EventOutcome = {
  state: repository.PaymentProviderEventState
  reason: string | null
  payment_id: string | null
}
type IncomingCallback = { provider: string; raw: Buffer; headers: Readonly<Record<string, unknown>> }

/** Longest stored reason, in characters. */
const REASON_MAX = 500
/**
 * Pauses between attempts to apply an event whose payment is unknown, because the event may be early. After
 * the last attempt it is quarantined.
 */
const PAUSES_SECONDS = [60, 300, 1_800, 7_200, 43_200, 86_400]

/**
 * Stores each callback of a provider once. It is applied in the same transaction when its payment is known and it fits, and
 * otherwise by a job, which also decides whether to quarantine it.
 */
export function createPaymentCallbackService({
  db,
  secrets,
  providers,
  recorder,
  accounts,
  wake,
  count
}: Deps) {
  /**
   * Stores the bytes as received, unless the event is stored already. Each application parses them again, because a newer
   * program may read more of them.
   */
  async function insert(
    tx: Transaction,
    { provider, raw }: IncomingCallback,
    event: Pick<PaymentProviderCallbackEvent, 'id' | 'type'> | undefined,
    outcome: EventOutcome
  ): Promise<string | undefined> {
    const row = await tx.first(repository.insertProviderEvent, {
      id: newId(),
      provider,
      event_id: event?.id ?? `unreadable:${hash('sha256', raw)}`,
      source: 'callback',
      type: event?.type ?? 'unreadable',
      ...outcome,
      raw: sealProviderEvent(secrets, raw)
    })
    const result =
      row === undefined ? 'repeated' : outcome.state === 'quarantined' ? 'quarantined' : 'received'
    tx.afterCommit(() => count(result))
    return row?.id
  }

  /** Stores an event without applying it. */
  async function store(
    tx: Transaction,
    callback: IncomingCallback,
    read: PaymentProviderCallbackEvent | UnreadablePaymentCallbackEvent
  ): Promise<void> {
    if (read.kind !== 'event') {
      const reason = read.error.slice(0, REASON_MAX)
      await insert(tx, callback, read.event, { state: 'quarantined', reason, payment_id: null })
      return
    }
    // Events about no payment are never applied.
    const state = read.about === null ? 'ignored' : 'received'
    const id = await insert(tx, callback, read, { state, reason: null, payment_id: null })
    if (id !== undefined && state === 'received') wake(tx, id)
  }

  /** Stores an event and applies it. Returns false when its payment is unknown, or when it does not fit its payment. */
  async function storeAndApply(
    callback: IncomingCallback,
    event: PaymentProviderCallbackEvent
  ): Promise<boolean> {
    const found = await paymentOf(db, callback.provider, event)
    if (found === undefined) return false
    return db.transaction(async tx => {
      const account = await accounts.lock(tx, found.order_id)
      const payment = await currentPayment(tx, found, event)
      if (payment === undefined || mismatchOf(event, payment) !== undefined) return false
      const outcome = { state: 'applied', reason: null, payment_id: payment.id } as const
      if ((await insert(tx, callback, event, outcome)) !== undefined)
        await record(tx, event, payment, account)
      return true
    })
  }

  function callbacksOf(name: string) {
    const { callbacks } = providers.get(name)
    if (callbacks === undefined)
      throw paymentProviderUnknownError({ details: { providers: providers.names() } })
    return callbacks
  }

  /** @throws `PAYMENT_PROVIDER_UNKNOWN`, `PAYMENT_CALLBACK_REFUSED` */
  async function receive(callback: IncomingCallback): Promise<{ received: true }> {
    const callbacks = callbacksOf(callback.provider)
    const signature = callbacks.verify(callback.raw, callback.headers, new Date())
    if (signature !== 'right') {
      count('refused')
      throw callbackSignatureInvalidError({ details: { reason: signature } })
    }
    const read = callbacks.read(callback.raw)
    // When it fails, a job applies the event again and reports the error.
    const isApplied = read.kind === 'event' && (await storeAndApply(callback, read).catch(() => false))
    if (!isApplied) await db.transaction(tx => store(tx, callback, read))
    return { received: true }
  }

  /** Finds the payment by the id in the metadata of the event, else by the id of the object at the provider. */
  async function paymentOf(queryable: Queryable, provider: string, { about }: PaymentProviderCallbackEvent) {
    if (about === null) return undefined
    const payment =
      about.paymentId === null
        ? await queryable.first(findPaymentByProviderObjectId, { provider, object_id: about.objectId })
        : await queryable.first(findPayment, { id: about.paymentId })
    return payment?.provider === provider ? payment : undefined
  }

  /** What is compared of a payment never changes once it has an object at the provider. */
  const currentPayment = async (tx: Transaction, payment: PaymentRow, event: PaymentProviderCallbackEvent) =>
    payment.object_id === null ? paymentOf(tx, payment.provider, event) : payment

  const mismatchOf = (event: PaymentProviderCallbackEvent, payment: PaymentRow) =>
    findPaymentProviderEventMismatch(event, paymentForProviderFromRow(payment))

  /** Records what an event reports of its payment, whose account is locked. */
  async function record(
    tx: Transaction,
    { about, facts }: PaymentProviderCallbackEvent,
    { id: paymentId, object_id, provider }: PaymentRow,
    account: LockedOrderPaymentAccount
  ): Promise<void> {
    if (object_id === null && about !== null)
      await tx.run(storeProviderPaymentIdAndNextStep, {
        id: paymentId,
        object_id: about.objectId,
        next_step: null
      })
    await recorder.recordFacts(tx, { paymentId, provider, facts, source: 'callback' })
    await accounts.settleFacts(tx, account)
  }

  async function applyTo(
    tx: Transaction,
    id: string,
    provider: string,
    event: PaymentProviderCallbackEvent,
    attempts: number,
    known: { payment: PaymentRow; account: LockedOrderPaymentAccount } | undefined
  ) {
    const finish = (
      state: repository.PaymentProviderEventState,
      reason: string | null,
      payment_id: string | null = null
    ) => tx.run(repository.finishProviderEvent, { id, state, reason, payment_id })
    if (event.about === null) return finish('ignored', null)
    const payment =
      known === undefined
        ? await paymentOf(tx, provider, event)
        : await currentPayment(tx, known.payment, event)
    if (payment === undefined) {
      const reason = 'its payment is unknown'
      const seconds = PAUSES_SECONDS[attempts]
      return seconds === undefined
        ? finish('quarantined', reason)
        : tx.run(repository.retryProviderEventLater, { id, reason, seconds })
    }
    const reason = mismatchOf(event, payment)
    if (reason !== undefined) return finish('quarantined', reason, payment.id)
    await record(tx, event, payment, known?.account ?? (await accounts.lock(tx, payment.order_id)))
    return finish('applied', null, payment.id)
  }

  function readStored({
    provider,
    source,
    raw: sealed
  }: StoredEvent): PaymentProviderCallbackEvent | UnreadablePaymentCallbackEvent | undefined {
    const raw = sealed === null ? undefined : openProviderEvent(secrets, sealed)
    if (raw === undefined) return undefined
    if (source === 'callback') return callbacksOf(provider).read(raw)
    const content = JSON.parse(raw.toString())
    // An object that could not be parsed was stored as the provider sent it.
    return content.kind === undefined ? callbacksOf(provider).read(raw) : content
  }

  /** Applies an event in state `received`. Events in other states stay as they are. */
  async function apply(id: string): Promise<void> {
    const stored = await db.first(repository.findProviderEvent, { id })
    const event = stored && readStored(stored)
    if (stored === undefined || event === undefined) return
    const payment = event.kind === 'event' ? await paymentOf(db, stored.provider, event) : undefined
    await db.transaction(async tx => {
      // Lock order: the account before the event.
      const known = payment && { payment, account: await accounts.lock(tx, payment.order_id) }
      const row = await tx.first(repository.lockProviderEvent, { id })
      if (row?.state !== 'received') return
      if (event.kind === 'event') await applyTo(tx, id, stored.provider, event, row.attempts, known)
      else
        await tx.run(repository.finishProviderEvent, {
          id,
          state: 'quarantined',
          reason: event.error,
          payment_id: null
        })
    })
  }

  return { receive, apply }
}
export type PaymentCallbackService = ReturnType<typeof createPaymentCallbackService>
