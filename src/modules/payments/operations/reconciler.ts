import type { Log } from '../../../platform/log.ts'
import type { Database, Queryable } from '../../../platform/postgres/database.ts'
import * as operations from '../payments/operation-repository.ts'
import { claimPaymentsToPoll, paymentForProviderFromRow, pollPaymentsSoon } from '../payments/repository.ts'
import type { PaymentCallbackService } from '../provider-events/callback-service.ts'
import { claimDueProviderEvents, expediteProviderEvents } from '../provider-events/repository.ts'
import type { PaymentProviderRegistry } from '../providers/registry.ts'
import type { PaymentRefresher } from './refresh.ts'
import type { PaymentOperationSender } from './sender.ts'

const ITEMS_PER_BATCH = 20
/** Concurrent requests to providers. */
const PROVIDER_CONCURRENCY = 8
/** Longest duration of a run in milliseconds. The next run continues. */
const RUN_MS_MAX = 30_000
/** Age of an operation from which an error is logged, because an administrator has to act. */
const ALERT_SECONDS = 72 * 3_600

/** Pauses between polls of an open payment without a callback. */
const POLLS_SECONDS = [300, 1_800, 7_200, 43_200]

type Deps = {
  db: Database
  log: Log
  sender: PaymentOperationSender
  callbacks: Pick<PaymentCallbackService, 'apply'>
  providers: PaymentProviderRegistry
  refreshPayment: PaymentRefresher
}

/** Schedules waiting operations and polls soon, when a provider recovers or this process starts. */
export async function reschedulePaymentOperationsAndPolls(
  db: Queryable,
  provider: string | null
): Promise<void> {
  await db.run(operations.retryPaymentOperationsSoon, { provider })
  await db.run(pollPaymentsSoon, { provider })
}

/** Finds the results of operations without a response. It never guesses: it repeats the same request. */
export function createPaymentReconciler({ db, log, sender, callbacks, providers, refreshPayment }: Deps) {
  let isFirst = true
  const hasCallbacks = (provider: string) => providers.get(provider).callbacks !== undefined

  async function sendDue(provider: string, signal: AbortSignal): Promise<number> {
    const due = await db.rows(operations.claimDuePaymentOperations, { provider, limit: ITEMS_PER_BATCH })
    for (const { id, age_seconds } of due)
      if (age_seconds > ALERT_SECONDS)
        log.error({ id, provider, age_seconds }, 'an operation has no result from its provider')
    await runConcurrently(due, signal, ({ id }) => sender.send(id))
    return due.length
  }

  async function applyDue(signal: AbortSignal): Promise<number> {
    const due = await db.rows(claimDueProviderEvents, { limit: ITEMS_PER_BATCH })
    await runConcurrently(due, signal, ({ id }) => callbacks.apply(id))
    return due.length
  }

  /** Polls payments whose callbacks may have been lost. Providers without callbacks are not polled. */
  async function pollDue(provider: string, limit: number, signal: AbortSignal): Promise<number> {
    if (!hasCallbacks(provider)) return 0
    const due = await db.rows(claimPaymentsToPoll, { provider, pauses: POLLS_SECONDS, limit })
    await runConcurrently(due, signal, payment =>
      refreshPayment(provider, paymentForProviderFromRow(payment))
    )
    return due.length
  }

  /** Sends one request to a provider that is down, to find out whether it has recovered. */
  async function probe(provider: string, signal: AbortSignal): Promise<void> {
    if (!providers.isProbeDue(provider)) return
    const probes = await db.rows(operations.claimPaymentOperationToProbeProvider, { provider })
    await runConcurrently(probes, signal, ({ id }) => sender.send(id))
    if (probes.length === 0) await pollDue(provider, 1, signal)
  }

  async function retryProvider(provider: string, signal: AbortSignal): Promise<void> {
    // After the recovery, `reschedulePaymentOperationsAndPolls` spreads the waiting operations first.
    if (providers.isDown(provider)) return probe(provider, signal)
    const isUp = () => !providers.isDown(provider)
    await untilDone(signal, async () => (isUp() ? sendDue(provider, signal) : 0))
    await untilDone(signal, async () => (isUp() ? pollDue(provider, ITEMS_PER_BATCH, signal) : 0))
  }

  /** Works on items concurrently. A failing item is logged and claimed again later; the others continue. */
  async function runConcurrently<T extends { id: string }>(
    all: readonly T[],
    signal: AbortSignal,
    work: (item: T) => Promise<void>
  ): Promise<void> {
    const rest = [...all]
    const worker = async () => {
      for (let item = rest.shift(); item !== undefined && !signal.aborted; item = rest.shift())
        await work(item).catch(error =>
          log.error({ err: error, id: item?.id }, 'a payment could not be reconciled')
        )
    }
    await Promise.all(Array.from({ length: PROVIDER_CONCURRENCY }, worker))
  }

  async function begin(): Promise<void> {
    await reschedulePaymentOperationsAndPolls(db, null)
    await db.run(expediteProviderEvents)
    isFirst = false
  }

  return {
    hasWork: async (): Promise<boolean> =>
      isFirst ||
      providers.names().some(providers.isDown) ||
      (
        await db.first(operations.existsPaymentWorkDue, {
          providers: providers.names(),
          polled: providers.names().filter(hasCallbacks)
        })
      )?.is_due === true,
    run: async (signal: AbortSignal): Promise<void> => {
      if (isFirst) await begin()
      const end = AbortSignal.any([signal, AbortSignal.timeout(RUN_MS_MAX)])
      await untilDone(end, () => applyDue(end))
      await Promise.all(providers.names().map(name => retryProvider(name, end)))
    }
  }
}

/** Works batch by batch until one is not full. */
async function untilDone(signal: AbortSignal, work: () => Promise<number>): Promise<void> {
  while (!signal.aborted && (await work()) === ITEMS_PER_BATCH);
}
