import { expect } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import type { TestShop } from '../../src/testing.ts'
import { frequentJobs } from './jobs.ts'

/**
 * Waits until all consequences of the commits are done. Events and jobs are handled, except scheduled ones that are due
 * later or have nothing to do. This process has received all messages that invalidate its caches.
 */
export async function settled({ sql, platform }: Pick<TestShop, 'sql' | 'platform'>): Promise<void> {
  const open = `select handler from cartwright.jobs
    where id > 0 or lease is not null or (due_at <= now() and (attempts > 0 or handler <> all ($1)))`
  await expect.poll(() => sql(open, [frequentJobs])).toEqual([])
  const { db, broadcast } = platform
  const topic = newId()
  let isReceived = false
  const onMessage = () => {
    isReceived = true
  }
  broadcast.subscribe(topic, { onMessage, onGap: () => {} })
  await expect
    .poll(async () => {
      await db.transaction(tx => broadcast.publish(tx, topic, ''))
      return isReceived
    })
    .toBe(true)
}
