import type { Log } from '../../../platform/log.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { hastenEvents, takeDueEvents } from '../callbacks/repository.ts'
import type { CallbackService } from '../callbacks/service.ts'
import { refOf, takePolls } from '../payments/repository.ts'
import type { Providers } from '../providers/registry.ts'
import type { Inquiry } from './inquiry.ts'
import * as repository from './repository.ts'
import type { Sender } from './sender.ts'

const BATCH = 20
/** So many providers' answers are waited for at once. */
const LANES = 4
/** After so long somebody has to look. */
const ALERT_SECONDS = 72 * 3_600

/** When to ask about an open payment that no callback told of. */
const POLLS_SECONDS = [300, 1_800, 7_200, 43_200]

type Deps = {
  db: Database
  log: Log
  sender: Sender
  callbacks: CallbackService
  providers: Providers
  inquire: Inquiry
}

/** Finds out what became of all that was asked and not answered. It never guesses: it asks the same again. */
export function createReconciler({ db, log, sender, callbacks, providers, inquire }: Deps) {
  let isFirst = true

  async function operations(signal: AbortSignal): Promise<void> {
    const due = await db.rows(repository.takeDue, { limit: BATCH })
    for (const { id, provider, age_seconds } of due)
      if (age_seconds > ALERT_SECONDS) log.error({ id, provider, age_seconds }, 'a provider never answered')
    await inLanes(due, signal, ({ id }) => sender.send(id))
  }

  async function events(signal: AbortSignal): Promise<void> {
    const due = await db.rows(takeDueEvents, { limit: BATCH })
    await inLanes(due, signal, ({ id }) => callbacks.apply(id))
  }

  /** Of those who call back, what they may have called about in vain. */
  async function polls(signal: AbortSignal): Promise<void> {
    for (const name of providers.names) {
      if (providers.get(name).callbacks === undefined) continue
      const wanted = { provider: name, pauses: POLLS_SECONDS, limit: BATCH }
      const due = await db.rows(takePolls, wanted)
      await inLanes(due, signal, payment => inquire(name, refOf(payment)))
    }
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

  return async (signal: AbortSignal): Promise<void> => {
    if (isFirst) {
      // Whatever the last process waited for may be known by now.
      await db.run(repository.hasten, { provider: null })
      await db.run(hastenEvents)
      isFirst = false
    }
    await operations(signal)
    await events(signal)
    await polls(signal)
  }
}
