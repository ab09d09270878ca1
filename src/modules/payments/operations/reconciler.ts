import type { Log } from '../../../platform/log.ts'
import type { Database, Queryable } from '../../../platform/postgres/database.ts'
import { hastenEvents, takeDueEvents } from '../callbacks/repository.ts'
import type { CallbackService } from '../callbacks/service.ts'
import { hastenPolls, refOf, takePolls } from '../payments/repository.ts'
import type { Providers } from '../providers/registry.ts'
import type { Inquiry } from './inquiry.ts'
import * as repository from './repository.ts'
import type { Sender } from './sender.ts'

const BATCH = 20
/** So many providers' answers are waited for at once. */
const LANES = 8
/** After so long the rest is left to the next time. */
const RUN_MS_MAX = 30_000
/** After so long somebody has to look. */
const ALERT_SECONDS = 72 * 3_600

/** When to ask about an open payment that no callback told of. */
const POLLS_SECONDS = [300, 1_800, 7_200, 43_200]

type Deps = {
  db: Database
  log: Log
  sender: Sender
  callbacks: Pick<CallbackService, 'apply'>
  providers: Providers
  inquire: Inquiry
}

/** A provider is back, or this process has begun: what was waited for may be known by now. */
export async function hastenAll(db: Queryable, provider: string | null): Promise<void> {
  await db.run(repository.hasten, { provider })
  await db.run(hastenPolls, { provider })
}

/** Finds out what became of all that was asked and not answered. It never guesses: it asks the same again. */
export function createReconciler({ db, log, sender, callbacks, providers, inquire }: Deps) {
  let isFirst = true

  async function sendDue(provider: string, signal: AbortSignal): Promise<number> {
    const due = await db.rows(repository.takeDue, { provider, limit: BATCH })
    for (const { id, age_seconds } of due)
      if (age_seconds > ALERT_SECONDS) log.error({ id, provider, age_seconds }, 'a provider never answered')
    await inLanes(due, signal, ({ id }) => sender.send(id))
    return due.length
  }

  async function applyDue(signal: AbortSignal): Promise<number> {
    const due = await db.rows(takeDueEvents, { limit: BATCH })
    await inLanes(due, signal, ({ id }) => callbacks.apply(id))
    return due.length
  }

  /** Of those who call back, what they may have called about in vain. */
  async function pollDue(provider: string, limit: number, signal: AbortSignal): Promise<number> {
    if (providers.get(provider).callbacks === undefined) return 0
    const due = await db.rows(takePolls, { provider, pauses: POLLS_SECONDS, limit })
    await inLanes(due, signal, payment => inquire(provider, refOf(payment)))
    return due.length
  }

  /** Whether one that was down is back is found out by one question; what waits for it is put off no longer by that. */
  async function probe(provider: string, signal: AbortSignal): Promise<void> {
    if (!providers.isAskable(provider)) return
    const probes = await db.rows(repository.takeProbe, { provider })
    await inLanes(probes, signal, ({ id }) => sender.send(id))
    if (probes.length === 0) await pollDue(provider, 1, signal)
  }

  async function ask(provider: string, signal: AbortSignal): Promise<void> {
    // When it is back, all that waits is spread first.
    if (providers.isDown(provider)) return probe(provider, signal)
    const isUp = () => !providers.isDown(provider)
    await untilDone(signal, async () => (isUp() ? sendDue(provider, signal) : 0))
    await untilDone(signal, async () => (isUp() ? pollDue(provider, BATCH, signal) : 0))
  }

  /** One that fails is said, and comes again; the others go on. */
  async function inLanes<T extends { id: string }>(
    all: readonly T[],
    signal: AbortSignal,
    work: (item: T) => Promise<void>
  ): Promise<void> {
    const rest = [...all]
    const lane = async () => {
      for (let item = rest.shift(); item !== undefined && !signal.aborted; item = rest.shift())
        await work(item).catch(error =>
          log.error({ err: error, id: item?.id }, 'a payment is not reconciled')
        )
    }
    await Promise.all(Array.from({ length: LANES }, lane))
  }

  async function begin(): Promise<void> {
    await hastenAll(db, null)
    await db.run(hastenEvents)
    for (const orphans of await db.rows(repository.countOrphans, { providers: providers.names }))
      log.error(
        orphans,
        'a provider that is not offered any more was asked, and nobody can find out what it did'
      )
    isFirst = false
  }

  return async (signal: AbortSignal): Promise<void> => {
    if (isFirst) await begin()
    const end = AbortSignal.any([signal, AbortSignal.timeout(RUN_MS_MAX)])
    await untilDone(end, () => applyDue(end))
    await Promise.all(providers.names.map(name => ask(name, end)))
  }
}

/** Batch by batch, until one is not full. */
async function untilDone(signal: AbortSignal, work: () => Promise<number>): Promise<void> {
  while (!signal.aborted && (await work()) === BATCH);
}
