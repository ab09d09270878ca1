import { hash } from 'node:crypto'
import { newId } from '../../../kernel/ids.ts'
import type { Database, Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { RowOf } from '../../../platform/postgres/statement.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { callbackRefused, providerUnknown } from '../errors.ts'
import type { Recorder } from '../facts/recorder.ts'
import { lockAccount } from '../facts/repository.ts'
import { findByObject, findPayment, refOf, setObject } from '../payments/repository.ts'
import type { CallbackEvent, Unreadable } from '../providers/port.ts'
import type { Providers } from '../providers/registry.ts'
import { whyNot } from './judge.ts'
import * as repository from './repository.ts'

type Deps = {
  db: Database
  secrets: Secrets
  providers: Providers
  recorder: Recorder
  /** Has it applied soon after the commit. */
  wake: (tx: Transaction, id: string) => void
  count: (result: 'received' | 'repeated' | 'refused' | 'quarantined') => void
}
type KeptEvent = RowOf<typeof repository.findEvent>
type Called = { provider: string; raw: Buffer; headers: Readonly<Record<string, unknown>> }

/** In characters. */
const REASON_MAX = 500
/** An event about nothing that we know may be early; after a day it is for somebody to look at. */
const PAUSES_SECONDS = [60, 300, 1_800, 7_200, 43_200, 86_400]

/** What providers call back with: kept first, applied afterwards, each once. */
export function createCallbackService({ db, secrets, providers, recorder, wake, count }: Deps) {
  /** What is kept is what was sent; it is read anew whenever it is applied, because we may read better by then. */
  async function keep(
    tx: Transaction,
    { provider, raw }: Called,
    read: CallbackEvent | Unreadable
  ): Promise<void> {
    const id = newId()
    const isEvent = read.kind === 'event'
    // Whatever says nothing of a payment is no concern of ours.
    const state = isEvent ? (read.about === null ? 'ignored' : 'received') : 'quarantined'
    const of = isEvent ? read : read.event
    const row = await tx.first(repository.insertEvent, {
      id,
      provider,
      event_id: of?.id ?? `unreadable:${hash('sha256', raw)}`,
      source: 'callback',
      type: of?.type ?? 'unreadable',
      state,
      reason: isEvent ? null : read.error.slice(0, REASON_MAX),
      payment_id: null,
      raw: secrets.seal(repository.RAW, raw)
    })
    count(row === undefined ? 'repeated' : isEvent ? 'received' : 'quarantined')
    if (row !== undefined && state === 'received') wake(tx, id)
  }

  function callbacksOf(name: string) {
    const { callbacks } = providers.get(name)
    if (callbacks === undefined) throw providerUnknown({ details: { providers: providers.names } })
    return callbacks
  }

  /** @throws `PAYMENT_PROVIDER_UNKNOWN`, `PAYMENT_CALLBACK_REFUSED` */
  async function receive(called: Called): Promise<{ received: true }> {
    const callbacks = callbacksOf(called.provider)
    const signature = callbacks.verify(called.raw, called.headers, new Date())
    if (signature !== 'right') {
      count('refused')
      throw callbackRefused({ details: { reason: signature } })
    }
    await db.transaction(tx => keep(tx, called, callbacks.read(called.raw)))
    return { received: true }
  }

  /** By what we told the provider, or by what it calls it. */
  async function paymentOf(queryable: Queryable, provider: string, { about }: CallbackEvent) {
    if (about === null) return undefined
    const payment =
      about.paymentId === null
        ? await queryable.first(findByObject, { provider, object_id: about.objectId })
        : await queryable.first(findPayment, { id: about.paymentId })
    return payment?.provider === provider ? payment : undefined
  }

  async function applyTo(
    tx: Transaction,
    id: string,
    provider: string,
    event: CallbackEvent,
    attempts: number
  ) {
    const finish = (state: repository.EventState, reason: string | null, payment_id: string | null = null) =>
      tx.run(repository.finishEvent, { id, state, reason, payment_id })
    if (event.about === null) return finish('ignored', null)
    const payment = await paymentOf(tx, provider, event)
    if (payment === undefined) {
      const reason = 'no payment of ours is known for it'
      const seconds = PAUSES_SECONDS[attempts]
      return seconds === undefined
        ? finish('quarantined', reason)
        : tx.run(repository.putOffEvent, { id, reason, seconds })
    }
    const reason = whyNot(event, refOf(payment))
    if (reason !== undefined) return finish('quarantined', reason, payment.id)
    await tx.run(setObject, { id: payment.id, object_id: event.about.objectId, next_step: null })
    const told = { orderId: payment.order_id, paymentId: payment.id, provider, facts: event.facts }
    await recorder.write(tx, { ...told, source: 'callback' })
    await recorder.settle(tx, payment.order_id)
    return finish('applied', null, payment.id)
  }

  function readKept({ provider, source, raw: sealed }: KeptEvent): CallbackEvent | Unreadable | undefined {
    const raw = sealed === null ? undefined : secrets.open(repository.RAW, sealed)
    if (raw === undefined) return undefined
    if (source === 'callback') return callbacksOf(provider).read(raw)
    const said = JSON.parse(raw.toString())
    // Of an object that could not be read, the provider's own words were kept.
    return said.kind === undefined ? callbacksOf(provider).read(raw) : said
  }

  /** Applies one that was received; one that was applied, or that waits for somebody, stays as it is. */
  async function apply(id: string): Promise<void> {
    const kept = await db.first(repository.findEvent, { id })
    const event = kept && readKept(kept)
    if (kept === undefined || event === undefined) return
    const about = event.kind === 'event' ? await paymentOf(db, kept.provider, event) : undefined
    await db.transaction(async tx => {
      // The account first, as everywhere.
      if (about !== undefined) await tx.run(lockAccount, { order_id: about.order_id })
      const row = await tx.first(repository.lockEvent, { id })
      if (row?.state !== 'received') return
      if (event.kind === 'event') await applyTo(tx, id, kept.provider, event, row.attempts)
      else
        await tx.run(repository.finishEvent, {
          id,
          state: 'quarantined',
          reason: event.error,
          payment_id: null
        })
    })
  }

  return { receive, apply }
}
export type CallbackService = ReturnType<typeof createCallbackService>
