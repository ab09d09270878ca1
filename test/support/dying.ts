import type { TestShop } from '../../src/testing.ts'

/** Does `work`, but as if the process had died between the commit and the answer, and the lease had run out since. */
export async function dyingBehindCommit<T>(
  { sql }: Pick<TestShop, 'sql'>,
  work: () => Promise<T>
): Promise<T> {
  await sql(`create function refuse() returns trigger language plpgsql as
             $$ begin raise 'the process is dead'; end $$`)
  await sql(`create trigger dead before update on cartwright.idempotency_keys for each row
             when (new.state = 'done') execute function refuse()`)
  try {
    return await work()
  } finally {
    await sql('drop function refuse cascade')
    await sql(`update cartwright.idempotency_keys set lease_until = now() - interval '1 second'`)
  }
}
