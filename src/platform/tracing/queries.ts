import { statement } from '../postgres/statement.ts'

export const insertTraces = statement({
  name: 'tracing.insert',
  takes: { eventIds: 'uuid[]', traceparents: 'text[]' },
  text: `
    insert into cartwright.traces (event_id, traceparent)
    select event_id, traceparent from unnest($eventIds::uuid[], $traceparents::text[]) as new (event_id, traceparent)`
})
export const findTraces = statement({
  name: 'tracing.find',
  takes: { eventIds: 'uuid[]' },
  gives: { event_id: 'uuid', traceparent: 'text' },
  text: 'select event_id, traceparent from cartwright.traces where event_id = any ($eventIds)'
})
/** Deletes rows of events before `before`, an id, at most `limit`. */
export const deleteOldTraces = statement({
  name: 'tracing.delete_old',
  takes: { before: 'uuid', limit: 'int8' },
  text: `
    delete from cartwright.traces where event_id in (
      select event_id from cartwright.traces where event_id < $before order by event_id limit $limit
    )`
})
