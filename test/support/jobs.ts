import { expect } from 'vitest'
import { standardModules } from '../../src/app.ts'
import type { JobType } from '../../src/kernel/events.ts'
import type { TestShop } from '../../src/testing.ts'

/** Jobs that run at least once a minute. Their schedules stay due while they have nothing to do. */
export const frequentJobs = standardModules
  .flatMap(({ jobs = [] }): readonly JobType[] => jobs)
  .filter(({ intervalSeconds = Number.POSITIVE_INFINITY }) => intervalSeconds <= 60)
  .map(({ name }) => name)

const PATIENCE = { timeout: 60_000 }

/** Waits until a job has run again from its start; runs `meanwhile` when the job is due. */
export async function doOnceMore(
  { sql }: Pick<TestShop, 'sql'>,
  job: string,
  meanwhile: () => Promise<void> = async () => {}
): Promise<void> {
  // As if its last run had not ended. Otherwise it would not run without work.
  const wake = `update cartwright.jobs set due_at = now() - interval '1 second', attempts = 1 where handler = $1 and lease is null returning id`
  await expect.poll(async () => (await sql(wake, [job])).length, PATIENCE).toBe(1)
  await meanwhile()
  const done = 'select id from cartwright.jobs where handler = $1 and lease is null and due_at > now()'
  await expect.poll(async () => (await sql(done, [job])).length, PATIENCE).toBe(1)
}
