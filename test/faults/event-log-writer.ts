import { databaseUnavailableError } from '../../src/platform/postgres/errors.ts'
import { statement } from '../../src/platform/postgres/statement.ts'
import type { TestShop } from '../../src/testing.ts'
import { chimeRang } from '../support/event-log.ts'

/** Subjects whose events must be in their order, and the events that were committed. */
export const CREATE_TABLES = `
  create table public.chimes (id uuid primary key, nth int not null);
  insert into public.chimes select gen_random_uuid(), 0 from generate_series(1, 200);
  create table public.received (position bigint primary key, event_id uuid unique, subject uuid, nth int, lag_seconds float8, at timestamptz);
  create table public.cursors (after bigint not null);
  insert into public.cursors values (0)`
const countUp = statement({
  name: 'test.count_up_chime',
  takes: { by: 'int4', chance: 'float8' },
  gives: { id: 'uuid', nth: 'int4' },
  text: `
    update public.chimes set nth = nth + $by::int
    where id = (select id from public.chimes order by id offset floor($chance::float8 * 200)::int limit 1)
    returning id, nth`
})
const countAll = statement({
  name: 'test.count_chimes',
  gives: { total: 'int8' },
  text: 'select sum(nth)::int8 as total from public.chimes'
})

const fail = statement({
  name: 'test.fail',
  takes: { zero: 'int4' },
  gives: { result: 'int4' },
  text: 'select 1 / $zero::int as result'
})

const WRITERS = 8

/** Emits one to three events a transaction until the whole shop has emitted `count`. One transaction in twenty is rolled back. */
export async function emitUntilEnough({ db, platform }: Pick<TestShop, 'db' | 'platform'>, count: number) {
  let isEnough = false
  const write = async () => {
    for (let turn = 0; !isEnough; turn += 1) {
      const by = 1 + Math.floor(Math.random() * 3)
      await db
        .transaction(async tx => {
          const chime = await tx.first(countUp, { by, chance: Math.random() })
          if (chime === undefined) throw databaseUnavailableError()
          for (let nth = chime.nth - by + 1; nth <= chime.nth; nth += 1)
            platform.outbox.emit(tx, chimeRang, { id: chime.id, version: nth }, { nth })
          // Fails after the insert of the events, so that their ids are drawn.
          if (turn % 20 === 19) tx.withCommit(each => each.first(fail, { zero: 0 }))
        })
        .catch(() => {})
      if (turn % 10 === 0) isEnough = ((await db.first(countAll))?.total ?? 0) >= count
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, write))
}
