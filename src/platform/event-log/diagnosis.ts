import {
  type DiagnosisCheck,
  errorDiagnosisFinding,
  okDiagnosisFinding,
  warningDiagnosisFinding
} from '../../kernel/diagnosis.ts'
import type { Database } from '../postgres/database.ts'
import { type RowOf, statement } from '../postgres/statement.ts'

/**
 * Counts what contradicts the log: batches that do not begin where the one before ends; among the newest million positions,
 * events with two positions and events without one that are older than 5 minutes.
 */
const checkEventLog = statement({
  name: 'event_log.check',
  slow: true,
  gives: {
    latest: 'int8',
    breaks: 'int8',
    repeated: 'int8',
    unpositioned: 'int8',
    oldest_seconds: 'float8?'
  },
  text: `
    with batches as (
      select first_position, ids, last_id, first_position + cardinality(ids) as next,
        lead(first_position) over (order by first_position) as following
      from cartwright.event_batches
    ), newest as materialized (
      select listed.id
      from batches, unnest(ids) as listed (id)
      where first_position > (select max(first_position) from batches) - 1000000
    )
    select coalesce((select max(next) - 1 from batches), 0) as latest,
      (select count(*) from batches where following <> next) as breaks,
      (select count(*) from (select id from newest group by id having count(*) > 1) twice) as repeated,
      unpositioned.amount as unpositioned, unpositioned.oldest_seconds
    from (
        select count(*) as amount, extract(epoch from now() - min(occurred_at))::float8 as oldest_seconds
        from cartwright.events event
        where event.id > coalesce((select min(id) from newest), 0) and event.occurred_at < now() - interval '5 minutes'
          and not exists (select from newest where newest.id = event.id)
      ) unpositioned`
})

/** Proves that positions are unique and without gaps. */
export const diagnoseEventLog = (db: Pick<Database, 'first'>): readonly DiagnosisCheck[] => [
  {
    about: 'event log',
    find: async () => judgeEventLog(await db.first(checkEventLog))
  }
]

function judgeEventLog(found: RowOf<typeof checkEventLog> | undefined) {
  const { latest = 0, breaks = 0, repeated = 0, unpositioned = 0, oldest_seconds } = found ?? {}
  if (breaks > 0 || repeated > 0)
    return errorDiagnosisFinding(
      `positions are not unique: ${breaks} batches begin at a wrong position, ${repeated} events have two positions`,
      'Nothing but the shop may write cartwright.event_batches. Let readers of the feed read all objects again.'
    )
  if (unpositioned > 0)
    return warningDiagnosisFinding(
      `${unpositioned} events older than 5 minutes have no position, the oldest for ${Math.floor(oldest_seconds ?? 0)} s`,
      'Check that a server runs, and its log. A transaction that stays open delays its own events only.'
    )
  return okDiagnosisFinding(latest === 0 ? 'empty' : `positions up to ${latest}, unique and without gaps`)
}
