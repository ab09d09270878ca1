import { defineEvent, defineJob, type JobDelivery } from '../../src/kernel/events.ts'
import { Type } from '../../src/kernel/schema.ts'
import { Id } from '../../src/kernel/wire.ts'
import { defineModule, type Module } from '../../src/module.ts'
import type { EventHandler, JobHandler } from '../../src/platform/outbox/handlers.ts'
import type { Enqueue } from '../../src/platform/outbox/outbox.ts'
import type { Transaction } from '../../src/platform/postgres/database.ts'
import { statement } from '../../src/platform/postgres/statement.ts'
import { useTestDatabaseUrl } from './database.ts'
import { runSql } from './sql.ts'

// Modules for tests of events and jobs: one that rings, and ears that subscribe to it and note its events.

const bellRang = defineEvent(
  'bell.rang',
  { description: 'A visitor rang a bell.', subject: 'the bell' },
  { bell_id: Id, nth: Type.Integer() }
)
export const polish = defineJob(
  'bell.polish',
  { description: 'Polishes a bell.', timeoutSeconds: 2 },
  { bell_id: Id }
)
export const wind = defineJob(
  'bell.wind',
  { description: 'Winds the clock.', timeoutSeconds: 2, intervalSeconds: 3_600 },
  {}
)

export const call = defineJob(
  'bell.call',
  { description: 'Asks the bellfounder.', timeoutSeconds: 30, callsExternalService: true },
  {}
)
export const post = defineJob(
  'bell.post',
  { description: 'Sends a bell.', timeoutSeconds: 30, callsExternalService: true, concurrency: 3 },
  {}
)
export const cast = defineJob('bell.cast', { description: 'Casts a bell.', timeoutSeconds: 600 }, {})

type Rang = { bell_id: string; nth: number }
export type Ring = JobDelivery<Rang>
type BellApi = {
  ring(tx: Transaction, bellId: string, nth: number, subject?: string): void
  enqueue: Enqueue
}

export const bellModule = (
  handlers: {
    polish?: JobHandler<{ bell_id: string }>
    wind?: JobHandler<object>
    call?: JobHandler<object>
    cast?: JobHandler<object>
    post?: JobHandler<object>
  } = {}
) =>
  defineModule({
    name: 'bell',
    description: 'Rings.',
    basePaths: [],
    requires: {},
    uses: {},
    emits: [bellRang],
    jobs: [polish, wind, call, cast, post],
    setup: async ({ emit, enqueue }) => {
      const api: BellApi = {
        ring: (tx, bell_id, nth, subject = bell_id) => emit(tx, bellRang, subject, { bell_id, nth }),
        enqueue
      }
      const nothing = async () => {}
      return {
        api,
        jobHandlers: {
          'bell.polish': handlers.polish ?? nothing,
          'bell.wind': handlers.wind ?? nothing,
          'bell.call': handlers.call ?? nothing,
          'bell.cast': handlers.cast ?? nothing,
          'bell.post': handlers.post ?? nothing
        }
      }
    }
  })

/** A module that subscribes to bells; without a handler it notes them. `isWanted`: of which payloads; default: all. */
export const earModule = (
  name: string,
  handle: EventHandler<Rang> = noteIn(name),
  isWanted: (rang: { nth: number }) => boolean = () => true
): Module =>
  defineModule({
    name,
    description: 'Subscribes to bells.',
    basePaths: [],
    requires: { bell: bellModule() },
    uses: {},
    subscribes: [bellRang],
    setup: async () => ({
      api: {},
      isWanted: (_event, payload) => isWanted(payload as { nth: number }),
      eventHandlers: { 'bell.rang': handle }
    })
  })

export const CREATE_EFFECTS =
  'create table public.effects (id bigint generated always as identity, ear text, bell uuid, nth int, event uuid)'
/** A database without events and jobs, with an empty table of effects. Tests of a file that calls `shareShops` share it. */
export async function useBellDatabase(): Promise<string> {
  const url = await useTestDatabaseUrl()
  await runSql(
    url,
    `drop schema public cascade; create schema public; truncate cartwright.jobs; ${CREATE_EFFECTS}`
  )
  return url
}
const insertEffects = statement({
  name: 'test.insert_effects',
  takes: { ear: 'text', bells: 'uuid[]', nths: 'int4[]', events: 'uuid[]' },
  text: `
    insert into public.effects (ear, bell, nth, event)
    select $ear, bell, nth, event from unnest($bells::uuid[], $nths::int4[], $events::uuid[]) as heard (bell, nth, event)`
})

/** Writes what was heard into the table of effects. */
export const note = (tx: Transaction, ear: string, events: readonly Ring[]) =>
  tx.run(insertEffects, {
    ear,
    bells: events.map(({ payload }) => payload.bell_id),
    nths: events.map(({ payload }) => payload.nth),
    events: events.map(({ id }) => id)
  })
const noteIn =
  (ear: string): EventHandler<Rang> =>
  async (tx, events) => {
    await note(tx, ear, events)
  }
