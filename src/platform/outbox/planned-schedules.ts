import type { Database } from '../postgres/database.ts'
import { statement } from '../postgres/statement.ts'
import { newSchedule } from './dispatcher.ts'
import type { Outbox } from './outbox.ts'

/** Notes how often each job with a schedule runs, in seconds. */
export const noting = (everySeconds: Map<string, number>, outbox: Outbox): Outbox => ({
  ...outbox,
  attach: (name, handler) => {
    if ('run' in handler && handler.everySeconds !== undefined) everySeconds.set(name, handler.everySeconds)
    outbox.attach(name, handler)
  }
})

const plan = statement({
  name: 'outbox.plan_schedules',
  takes: { handlers: 'text[]', subjects: 'uuid[]', eventIds: 'uuid[]', seconds: 'float8[]' },
  text: `
    insert into cartwright.jobs (id, handler, subject, event_id, payload, since, due_at)
    select 0, handler, subject, event_id, '{}', now() + pause, now() + pause
    from unnest($handlers::text[], $subjects::uuid[], $eventIds::uuid[], $seconds::float8[])
      as schedules (handler, subject, event_id, seconds), make_interval(secs => seconds) as pause
    on conflict (subject, handler, id) do nothing`
})

/** Plans the first runs of these jobs after a pause as between two runs, unless they are planned already. */
export async function planSchedules(db: Database, everySeconds: ReadonlyMap<string, number>): Promise<void> {
  const schedules = [...everySeconds.keys()].map(newSchedule)
  await db.run(plan, {
    handlers: schedules.map(({ handler }) => handler),
    subjects: schedules.map(({ subject }) => subject),
    eventIds: schedules.map(({ eventId }) => eventId),
    seconds: [...everySeconds.values()]
  })
}
