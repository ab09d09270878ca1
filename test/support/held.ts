import type { TestShop } from '../../src/testing.ts'

/** What requests of a shop hold now: request slots, checked-out connections, and locks on rows, tables or keys. */
export async function heldByRequests({ platform, db, sql }: Pick<TestShop, 'platform' | 'db' | 'sql'>) {
  const slots = [...platform.metrics.all()].find(({ name }) => name === 'cartwright_request_slots_used')
  const [row] = await sql(
    `select count(*)::int as locks from pg_locks
     where database = (select oid from pg_database where datname = current_database()) and pid <> pg_backend_pid()
       and (locktype <> 'advisory' or not granted)`
  )
  return {
    slots: slots?.samples()[0]?.value,
    connections: db.statistics().acquired_conns,
    locks: row?.locks
  }
}
export const NOTHING_HELD = { slots: 0, connections: 0, locks: 0 }
