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
type IncomingCallback = { provider: string; raw: Buffer; headers: Readonly<Record<string, unknown>> }

/** Longest stored reason, in characters. */
const REASON_MAX = 500
/**
 * Pauses between attempts to apply an event whose payment is unknown, because the event may be early. After
 * the last attempt it is quarantined.
 */
const PAUSES_SECONDS = [60, 300, 1_800, 7_200, 43_200, 86_400]

/** Stores callbacks of providers first and applies them afterwards, each once. */
export function createPaymentCallbackService({
  db,
  secrets,
  providers,
  recorder,
  accounts,
  wake,
  count
}: Deps) {
  /** Stores the bytes as received. Each application parses them again, because a newer program may read more of them. */
  async function store(
    tx: Transaction,
    { provider, raw }: IncomingCallback,
    read: PaymentProviderCallbackEvent | UnreadablePaymentCallbackEvent
  ): Promise<void> {
    const id = newId()
    const isEvent = read.kind === 'event'
    // Events about no payment are stored, and never applied.
    const state = isEvent ? (read.about === null ? 'ignored' : 'received') : 'quarantined'
    const of = isEvent ? read : read.event
    const row = await tx.first(repository.insertProviderEvent, {
      id,
      provider,
      event_id: of?.id ?? `unreadable:${hash('sha256', raw)}`,
      source: 'callback',
      type: of?.type ?? 'unreadable',
      state,
      reason: isEvent ? null : read.error.slice(0, REASON_MAX),
      payment_id: null,
      raw: sealProviderEvent(secrets, raw)
    })
    count(row === undefined ? 'repeated' : isEvent ? 'received' : 'quarantined')
    if (row !== undefined && state === 'received') wake(tx, id)
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
    await db.transaction(tx => store(tx, callback, callbacks.read(callback.raw)))
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
    // What is compared of a payment never changes once it has an object at the provider.
    const isKnown = known !== undefined && known.payment.object_id !== null
    const payment = isKnown ? known.payment : await paymentOf(tx, provider, event)
    if (payment === undefined) {
      const reason = 'its payment is unknown'
      const seconds = PAUSES_SECONDS[attempts]
      return seconds === undefined
        ? finish('quarantined', reason)
        : tx.run(repository.retryProviderEventLater, { id, reason, seconds })
    }
    const reason = findPaymentProviderEventMismatch(event, paymentForProviderFromRow(payment))
    if (reason !== undefined) return finish('quarantined', reason, payment.id)
    const account = known?.account ?? (await accounts.lock(tx, payment.order_id))
    if (payment.object_id === null)
      await tx.run(storeProviderPaymentIdAndNextStep, {
        id: payment.id,
        object_id: event.about.objectId,
        next_step: null
      })
    const report = { paymentId: payment.id, provider, facts: event.facts }
    await recorder.recordFacts(tx, { ...report, source: 'callback' })
    await accounts.settleFacts(tx, account)
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
