import { hash } from 'node:crypto'
import { OperatorError } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { insertEvent, RAW } from '../callbacks/repository.ts'
import { type Fact, type RankedFact, unknownOf } from '../facts/fact.ts'
import type { Recorder } from '../facts/recorder.ts'
import { lockAccount } from '../facts/repository.ts'
import { listTold, type PaymentRow, refOf, setObject } from '../payments/repository.ts'
import type { CallbackEvent, Saying, UnreadableObject } from '../providers/port.ts'
import type { Providers } from '../providers/registry.ts'
import type { Hearing } from '../quarantine/hearing.ts'
import { createTally, type Discrepancy, type ReconcileReport } from './report.ts'
import * as repository from './repository.ts'

const BATCH = 100
/** In characters. */
const REASON_MAX = 500

export type ReconcileOptions = {
  readonly since: Date
  /** Without it, nothing is written. */
  readonly record: boolean
}
type Deps = { db: Database; secrets: Secrets; providers: Providers; recorder: Recorder; hear: Hearing }
/** What is said of a payment, which may be none of ours. */
type Told = Saying & { readonly about: NonNullable<Saying['about']> }
type Looked = Told & { readonly missing: readonly Fact[]; readonly payment: PaymentRow | undefined }

/** Compares what providers have in their books with what is known here, and takes over what is not. */
export function createReconciliation({ db, secrets, providers, recorder, hear }: Deps) {
  /** What is said, with what of it is not known. */
  async function lookUp(provider: string, told: readonly Told[]): Promise<Looked[]> {
    const facts = told.flatMap(saying => saying.facts)
    const [rows, payments] = await Promise.all([
      db.rows(repository.listKnownFacts, {
        provider,
        kinds: facts.map(({ kind }) => kind),
        objectIds: facts.map(({ objectId }) => objectId)
      }),
      db.rows(listTold, {
        provider,
        ids: told.flatMap(({ about }) => about.paymentId ?? []),
        objectIds: told.map(({ about }) => about.objectId)
      })
    ])
    const known = rows.map(
      ({ object_id: objectId, expires_seconds: expiresAt, ...row }): RankedFact => ({
        ...row,
        objectId,
        expiresAt
      })
    )
    return told.map(saying => {
      const { paymentId, objectId } = saying.about
      const payment = payments.find(each => each.id === paymentId || each.object_id === objectId)
      return { ...saying, payment, missing: unknownOf(saying.facts, known) }
    })
  }

  /** As a callback that came early would be: somebody looks at it, and it is judged anew when they say so. */
  const eventOf = ({ about, whole, facts }: Told): CallbackEvent => {
    const said = { about, whole, facts }
    const id = `poll:${about.objectId}:${hash('sha256', JSON.stringify(said))}`
    return { kind: 'event', id, type: 'poll', ...said }
  }
  const quarantine = (provider: string, event_id: string, raw: Buffer, reason: string) =>
    db.first(insertEvent, {
      ...{ id: newId(), provider, event_id, source: 'poll', type: 'poll', state: 'quarantined' },
      ...{ reason: reason.slice(0, REASON_MAX), payment_id: null, raw: secrets.seal(RAW, raw) }
    })
  const knownOf = async (provider: string, eventIds: readonly string[]) =>
    new Set(
      (await db.rows(repository.listKnownEvents, { provider, eventIds })).map(({ event_id }) => event_id)
    )

  /** Those that do not have the expected form: an administrator looks at them, as at callbacks of that kind. */
  async function judgeUnreadable(
    provider: string,
    objects: readonly UnreadableObject[],
    record: boolean
  ): Promise<Discrepancy[]> {
    const all = objects.map(each => ({
      ...each,
      eventId: `poll:${each.objectId}:${hash('sha256', each.raw)}`
    }))
    const known = await knownOf(
      provider,
      all.map(({ eventId }) => eventId)
    )
    const found: Discrepancy[] = []
    for (const { eventId, objectId, error, raw } of all.filter(each => !known.has(each.eventId))) {
      if (record) await quarantine(provider, eventId, raw, error)
      found.push({
        ...{ provider, kind: 'object_unreadable', objectId, paymentId: null, orderId: null, detail: error },
        outcome: record ? 'quarantined' : 'found'
      })
    }
    return found
  }

  /** Those of ours that are not here; of others that use the same account nothing is said. */
  async function judgeUnknown(
    provider: string,
    all: readonly Looked[],
    record: boolean
  ): Promise<Discrepancy[]> {
    const events = all
      .filter(({ payment, about }) => payment === undefined && about.paymentId !== null)
      .map(each => ({ about: each.about, event: eventOf(each) }))
    const known = await knownOf(
      provider,
      events.map(({ event }) => event.id)
    )
    const found: Discrepancy[] = []
    for (const { about, event } of events.filter(each => !known.has(each.event.id))) {
      const detail = 'no payment of ours is known for it'
      if (record) await quarantine(provider, event.id, Buffer.from(JSON.stringify(event)), detail)
      found.push({
        ...{ provider, kind: 'payment_unknown', ...about, detail },
        outcome: record ? 'quarantined' : 'found'
      })
    }
    return found
  }

  /** What is said is taken over as what is heard when a provider is asked. Answers why not. */
  const take = (provider: string, payment: PaymentRow, { about, missing: facts }: Looked) =>
    db.transaction(async tx => {
      await tx.run(lockAccount, { order_id: payment.order_id })
      const { objectId } = about
      const reason = await hear(tx, refOf(payment), { source: 'poll', provider, objectId, facts })
      if (reason === undefined)
        await tx.run(setObject, { id: payment.id, object_id: objectId, next_step: null })
      await recorder.settle(tx, payment.order_id)
      return reason
    })

  async function judgeKnown(provider: string, each: Looked, record: boolean): Promise<Discrepancy[]> {
    const { payment, missing, about } = each
    if (payment === undefined || missing.length === 0) return []
    const reason = record ? await take(provider, payment, each) : undefined
    return missing.map(fact => ({
      ...{ provider, kind: 'fact_missing', objectId: about.objectId },
      ...{ paymentId: payment.id, orderId: payment.order_id, detail: wordsOf(fact) },
      outcome: record ? (reason === undefined ? 'recorded' : 'quarantined') : 'found'
    }))
  }

  /**
   * All that providers have done since then and that is not known here, because the database lost its last commits or no
   * callback came. Done again, it finds nothing more. `onProgress` is told how many objects were looked at.
   * @throws OperatorError when a provider does not answer; what was recorded until then stays.
   */
  return async (
    { since, record }: ReconcileOptions,
    onProgress: (looked: number) => void = () => {}
  ): Promise<ReconcileReport> => {
    const tally = createTally(since)
    for (const name of providers.names) {
      const listed = providers.get(name).list?.(since)
      if (listed === undefined) continue
      // Refunds stand in the books of their payment and in those of refunds.
      const seen = new Set<string>()
      for await (const batch of batchesOf(listed, name)) {
        for (const _ of batch) onProgress(tally.look())
        tally.add(await judgeUnreadable(name, batch.filter(isUnreadable), record))
        const told = batch.filter((each): each is Told => !isUnreadable(each) && each.about !== null)
        const all = await lookUp(name, told)
        tally.add(await judgeUnknown(name, all, record))
        for (const each of all) {
          const missing = each.missing.filter(({ kind, objectId }) => !seen.has(`${kind} ${objectId}`))
          for (const { kind, objectId } of missing) seen.add(`${kind} ${objectId}`)
          tally.add(await judgeKnown(name, { ...each, missing }, record))
        }
      }
    }
    return tally.report()
  }
}

const isUnreadable = (listed: Saying | UnreadableObject): listed is UnreadableObject => 'error' in listed

const wordsOf = ({ kind, objectId, status, amount, currency }: Fact) =>
  `${kind} ${objectId} of ${amount} ${currency} is ${status}`

async function* batchesOf<T>(listed: AsyncIterable<T>, name: string): AsyncGenerator<T[]> {
  let batch: T[] = []
  const failed = (error: unknown): never => {
    throw new OperatorError(
      `${name} cannot be asked: ${(error as Error).message}. What was recorded until now stays; try again.`
    )
  }
  const places = listed[Symbol.asyncIterator]()
  for (;;) {
    const { done, value } = await places.next().catch(failed)
    if (done) break
    batch.push(value)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
