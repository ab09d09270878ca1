import type { DiagnosisCheck } from '../../kernel/diagnosis.ts'
import type { EventType } from '../../kernel/events.ts'
import { keptForDays } from '../../kernel/retention.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Partitions } from '../partitions/partitions.ts'
import type { PersonalDataHandler } from '../personal-data.ts'
import type { Database } from '../postgres/database.ts'
import type { Timers } from '../timers.ts'
import { diagnoseEventLog } from './diagnosis.ts'
import { eventLogPersonalData } from './erasure.ts'
import { type EventLogPage, type EventLogQuery, readEventLogPage } from './feed.ts'
import { createEventLogGauge } from './metrics.ts'
import { createEventLogPlacesByIdReader, type EventPositionAndVersions } from './positions.ts'
import { deleteEventBatches } from './queries.ts'
import { createEventLogSequencer, type EventLogSequencer } from './sequencer.ts'

/** The append-only log of the events that webhooks may send, for its readers. */
export type EventLogReader = {
  /** @throws `EVENTS_CURSOR_EXPIRED`, `EVENTS_CURSOR_AHEAD` */
  read(query: EventLogQuery): Promise<EventLogPage>
  /**
   * Returns the positions of events by their `logId`. Waits for those that were committed just now. Throws when an earlier
   * transaction stays open; the handler that called it is then tried again in a second.
   */
  placesOf(logIds: readonly number[]): Promise<ReadonlyMap<number, EventPositionAndVersions>>
}
/** The log, for the process that runs the shop. */
export type RunningEventLog = EventLogReader &
  Pick<EventLogSequencer, 'wake' | 'start' | 'stop'> & {
    /** The personal data of these events in the log; undefined when none declares any. */
    personalDataOf(events: readonly EventType[]): PersonalDataHandler | undefined
    /** What `doctor` checks. */
    readonly diagnoses: readonly DiagnosisCheck[]
  }

type EventLogDependencies = {
  db: Database
  metrics: Metrics
  log: Log
  timers: Pick<Timers, 'every'>
  partitions: Pick<Partitions, 'keep'>
  settings: { readonly position_wait_seconds: number; readonly retention_days: number }
}

const MEASURE_SECONDS = 10
export function createEventLog({
  db,
  log,
  metrics,
  partitions,
  timers,
  settings
}: EventLogDependencies): RunningEventLog {
  const sequencer = createEventLogSequencer({ db, log, waitSeconds: settings.position_wait_seconds })
  const measure = createEventLogGauge(metrics, db)
  timers.every(MEASURE_SECONDS, 'measure the event log', async () => {
    await measure()
    return 0
  })
  partitions.keep({
    table: 'cartwright.events',
    period: 'week',
    keptSince: keptForDays(settings.retention_days),
    dropWith: (tx, keptSince) => tx.run(deleteEventBatches, { keptSince })
  })

  return {
    read: query => readEventLogPage(db, query),
    placesOf: createEventLogPlacesByIdReader(db, sequencer),
    personalDataOf: events => eventLogPersonalData(db, events),
    diagnoses: diagnoseEventLog(db),
    wake: sequencer.wake,
    start: sequencer.start,
    stop: sequencer.stop
  }
}
