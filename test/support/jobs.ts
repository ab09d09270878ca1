import { expect } from 'vitest'
import type { TestShop } from '../../src/testing.ts'

const PATIENCE = { timeout: 60_000 }

/** Waits until a job has run again from its start; runs `meanwhile` when the job is due. */
export async function doOnceMore(
  { sql }: Pick<TestShop, 'sql'>,
  job: string,
  meanwhile: () => Promise<void> = async () => {}
): Promise<void> {
  const wake = `update cartwright.jobs set due_at = now() - interval '1 second' where handler = $1 and lease is null returning id`
  await expect.poll(async () => (await sql(wake, [job])).length, PATIENCE).toBe(1)
  await meanwhile()
  const done = 'select id from cartwright.jobs where handler = $1 and lease is null and due_at > now()'
  await expect.poll(async () => (await sql(done, [job])).length, PATIENCE).toBe(1)
}
