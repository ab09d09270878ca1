import { hash } from 'node:crypto'
import { OperatorError } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { OrderPaymentAccountChanges } from '../accounts/changes.ts'
import { type PaymentFact, type RankedPaymentFact, unrecordedPaymentFacts } from '../facts/fact.ts'
import {
  listPaymentsByIdOrObjectId,
  type PaymentRow,
  paymentForProviderFromRow,
  storeProviderPaymentIdAndNextStep
} from '../payments/repository.ts'
import { insertProviderEvent } from '../provider-events/repository.ts'
import type { PaymentProviderResponseRecorder } from '../provider-events/response-recorder.ts'
import { sealProviderEvent } from '../provider-events/stored-bytes.ts'
import type {
  PaymentProviderCallbackEvent,
  PaymentProviderEvent,
  UnreadablePaymentProviderObject
} from '../providers/port.ts'
import type { PaymentProviderRegistry } from '../providers/registry.ts'
import {
  createPaymentReconciliationReportBuilder,
  type PaymentReconciliationFinding,
  type PaymentReconciliationReport
} from './report.ts'
import * as repository from './repository.ts'

const OBJECTS_PER_BATCH = 100
/** Longest stored reason, in characters. */
const REASON_MAX = 500

export type PaymentReconciliationOptions = {
  readonly since: Date
  /** Whether missing facts are recorded. Otherwise nothing is written. */
  readonly record: boolean
}
type Deps = {
  db: Database
  secrets: Secrets
  providers: PaymentProviderRegistry
  accounts: OrderPaymentAccountChanges
  recordResponse: PaymentProviderResponseRecorder
}
/** A provider event that names a payment, perhaps one of another shop. */
type NamedEvent = PaymentProviderEvent & { readonly about: NonNullable<PaymentProviderEvent['about']> }
type ComparedEvent = NamedEvent & {
  readonly missing: readonly PaymentFact[]
  readonly payment: PaymentRow | undefined
}

/** Compares the objects of providers with the recorded facts, and records the missing ones. */
export function createPaymentProviderReconciliation({
  db,
  secrets,
  providers,
  accounts,
  recordResponse
}: Deps) {
  /** Finds the payment of each event and its unrecorded facts. */
  async function compare(provider: string, named: readonly NamedEvent[]): Promise<ComparedEvent[]> {
    const facts = named.flatMap(event => event.facts)
    const [rows, payments] = await Promise.all([
      db.rows(repository.listPaymentFactsOfProviderObjects, {
        provider,
        kinds: facts.map(({ kind }) => kind),
        objectIds: facts.map(({ objectId }) => objectId)
      }),
      db.rows(listPaymentsByIdOrObjectId, {
        provider,
        ids: named.flatMap(({ about }) => about.paymentId ?? []),
        objectIds: named.map(({ about }) => about.objectId)
      })
    ])
    const known = rows.map(
      ({ object_id: objectId, expires_seconds: expiresAt, ...row }): RankedPaymentFact => ({
        ...row,
        objectId,
        expiresAt
      })
    )
    return named.map(event => {
      const { paymentId, objectId } = event.about
      const payment = payments.find(each => each.id === paymentId || each.object_id === objectId)
      return { ...event, payment, missing: unrecordedPaymentFacts(event.facts, known) }
    })
  }

  /** Builds a callback event, so that an administrator can retry it like an early callback. */
  const eventOf = ({ about, whole, facts }: NamedEvent): PaymentProviderCallbackEvent => {
    const content = { about, whole, facts }
    const id = `poll:${about.objectId}:${hash('sha256', JSON.stringify(content))}`
    return { kind: 'event', id, type: 'poll', ...content }
  }
  const quarantine = (provider: string, event_id: string, raw: Buffer, reason: string) =>
    db.first(insertProviderEvent, {
      id: newId(),
      provider,
      event_id,
      source: 'poll',
      type: 'poll',
      state: 'quarantined',
      reason: reason.slice(0, REASON_MAX),
      payment_id: null,
      raw: sealProviderEvent(secrets, raw)
    })
  const knownOf = async (provider: string, eventIds: readonly string[]) =>
    new Set(
      (await db.rows(repository.listStoredProviderEventIds, { provider, eventIds })).map(
        ({ event_id }) => event_id
      )
    )

  /** Handles objects that cannot be read. They are quarantined, like callbacks that cannot be read. */
  async function reportUnreadable(
    provider: string,
    objects: readonly UnreadablePaymentProviderObject[],
    record: boolean
  ): Promise<PaymentReconciliationFinding[]> {
    const all = objects.map(each => ({
      ...each,
      eventId: `poll:${each.objectId}:${hash('sha256', each.raw)}`
    }))
    const known = await knownOf(
      provider,
      all.map(({ eventId }) => eventId)
    )
    const found: PaymentReconciliationFinding[] = []
    for (const { eventId, objectId, error, raw } of all.filter(each => !known.has(each.eventId))) {
      if (record) await quarantine(provider, eventId, raw, error)
      found.push({
        provider,
        kind: 'object_unreadable',
        objectId,
        paymentId: null,
        orderId: null,
        detail: error,
        outcome: record ? 'quarantined' : 'found'
      })
    }
    return found
  }

  /** Handles objects of the shop whose payment is not stored. Objects of other users of the provider account are skipped. */
  async function reportUnknown(
    provider: string,
    all: readonly ComparedEvent[],
    record: boolean
  ): Promise<PaymentReconciliationFinding[]> {
    const events = all
      .filter(({ payment, about }) => payment === undefined && about.paymentId !== null)
      .map(each => ({ about: each.about, event: eventOf(each) }))
    const known = await knownOf(
      provider,
      events.map(({ event }) => event.id)
    )
    const found: PaymentReconciliationFinding[] = []
    for (const { about, event } of events.filter(each => !known.has(each.event.id))) {
      const detail = 'its payment is unknown'
      if (record) await quarantine(provider, event.id, Buffer.from(JSON.stringify(event)), detail)
      found.push({
        provider,
        kind: 'payment_unknown',
        ...about,
        detail,
        outcome: record ? 'quarantined' : 'found'
      })
    }
    return found
  }

  /** Records missing facts like those of a response. Returns the reason when they are quarantined. */
  const recordMissing = (provider: string, payment: PaymentRow, { about, missing: facts }: ComparedEvent) =>
    db.transaction(async tx => {
      const account = await accounts.lock(tx, payment.order_id)
      const { objectId } = about
      const reason = await recordResponse(tx, paymentForProviderFromRow(payment), {
        source: 'poll',
        provider,
        objectId,
        facts
      })
      if (reason === undefined)
        await tx.run(storeProviderPaymentIdAndNextStep, {
          id: payment.id,
          object_id: objectId,
          next_step: null
        })
      await accounts.settle(tx, account)
      return reason
    })

  async function reportMissing(
    provider: string,
    each: ComparedEvent,
    record: boolean
  ): Promise<PaymentReconciliationFinding[]> {
    const { payment, missing, about } = each
    if (payment === undefined || missing.length === 0) return []
    const reason = record ? await recordMissing(provider, payment, each) : undefined
    return missing.map(fact => ({
      provider,
      kind: 'fact_missing',
      objectId: about.objectId,
      paymentId: payment.id,
      orderId: payment.order_id,
      detail: describeFact(fact),
      outcome: record ? (reason === undefined ? 'recorded' : 'quarantined') : 'found'
    }))
  }

  /**
   * Finds what providers did since a date and the shop did not record, because the database lost commits or callbacks were
   * lost. A second run finds nothing. `onProgress` gets the number of compared objects.
   * @throws OperatorError when a provider does not respond. Facts that were recorded until then stay.
   */
  return async (
    { since, record }: PaymentReconciliationOptions,
    onProgress: (looked: number) => void = () => {}
  ): Promise<PaymentReconciliationReport> => {
    const tally = createPaymentReconciliationReportBuilder(since)
    for (const name of providers.names()) {
      const listed = providers.get(name).list?.(since)
      if (listed === undefined) continue
      // A refund is listed with its payment and among the refunds.
      const seen = new Set<string>()
      for await (const batch of batchesOf(listed, name)) {
        for (const _ of batch) onProgress(tally.look())
        tally.add(await reportUnreadable(name, batch.filter(isUnreadable), record))
        const named = batch.filter((each): each is NamedEvent => !isUnreadable(each) && each.about !== null)
        const all = await compare(name, named)
        tally.add(await reportUnknown(name, all, record))
        for (const each of all) {
          const missing = each.missing.filter(({ kind, objectId }) => !seen.has(`${kind} ${objectId}`))
          for (const { kind, objectId } of missing) seen.add(`${kind} ${objectId}`)
          tally.add(await reportMissing(name, { ...each, missing }, record))
        }
      }
    }
    return tally.report()
  }
}

const isUnreadable = (
  listed: PaymentProviderEvent | UnreadablePaymentProviderObject
): listed is UnreadablePaymentProviderObject => 'error' in listed

const describeFact = ({ kind, objectId, status, amount, currency }: PaymentFact) =>
  `${kind} ${objectId} of ${amount} ${currency} is ${status}`

async function* batchesOf<T>(listed: AsyncIterable<T>, name: string): AsyncGenerator<T[]> {
  let batch: T[] = []
  const failed = (error: unknown): never => {
    throw new OperatorError(
      `${name} does not respond: ${(error as Error).message}. The facts recorded so far are kept; try again.`
    )
  }
  const iterator = listed[Symbol.asyncIterator]()
  for (;;) {
    const { done, value } = await iterator.next().catch(failed)
    if (done) break
    batch.push(value)
    if (batch.length < OBJECTS_PER_BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
