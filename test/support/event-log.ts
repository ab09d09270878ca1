import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { defineEvent } from '../../src/kernel/events.ts'
import { newId } from '../../src/kernel/ids.ts'
import { Type } from '../../src/kernel/schema.ts'
import { defineModule } from '../../src/module.ts'
import type { Emit } from '../../src/platform/outbox/outbox.ts'
import type { Database } from '../../src/platform/postgres/database.ts'

// A module for tests of the event log, and transactions that stay open.

export const chimeRang = defineEvent(
  'chime.rang',
  { description: 'A chime rang.', subject: 'the chime', webhook: 'all', payloadVersion: 3 },
  { nth: Type.Integer() }
)
const chimeTuned = defineEvent(
  'chime.tuned',
  { description: 'A chime was tuned.', subject: 'the chime', webhook: 'none' },
  { nth: Type.Integer() }
)
type ChimeApi = {
  /** Emits events in one transaction. Returns their subject. */
  ring(nths: readonly number[], subject?: string): Promise<string>
  /** Emits an event that the log does not contain. */
  tune(nth: number): Promise<void>
}

export const chimeModule = () =>
  defineModule({
    name: 'chime',
    description: 'Rings.',
    basePaths: [],
    requires: {},
    uses: {},
    emits: [chimeRang, chimeTuned],
    setup: async ({ db, emit }) => ({ api: apiOf(db, emit) })
  })

const apiOf = (db: Database, emit: Emit): ChimeApi => ({
  ring: async (nths, subject = newId()) => {
    await db.transaction(async tx => {
      for (const nth of nths) emit(tx, chimeRang, { id: subject, version: nth }, { nth })
    })
    return subject
  },
  tune: nth => db.transaction(async tx => emit(tx, chimeTuned, newId(), { nth }))
})

/** Opens a transaction that has inserted one event of the chime, and stays open. */
export async function openEmitter(databaseUrl: string, nth: number, subject = newId()) {
  const client = new pg.Client({ connectionString: databaseUrl })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin')
  await client.query(
    `insert into cartwright.events (id, occurred_at, event_id, subject, payload_version, subject_version, name, payload)
     select nextval('cartwright.event_ids'), now(), $1, $2, 3, $3::int, 'chime.rang', jsonb_build_object('nth', $3::int)
     where pg_current_xact_id() is not null`,
    [newId(), subject, nth]
  )
  return {
    commit: () => client.query('commit'),
    rollback: () => client.query('rollback')
  }
}

/** Waits for the numbers of the events in the feed. */
export async function waitForNths(
  read: () => Promise<number[]>,
  count: number,
  timeoutMs = 5_000
): Promise<number[]> {
  const until = performance.now() + timeoutMs
  for (;;) {
    const found = await read()
    if (found.length >= count || performance.now() > until) return found
    await delay(10)
  }
}
