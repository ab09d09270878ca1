import { expect } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import type { TestShop } from '../../src/testing.ts'

/**
 * Waits until all consequences of the commits are done. Events and jobs are handled, except scheduled ones that are due
 * later. This process has received all messages that invalidate its caches.
 */
export async function settled({ sql, platform }: Pick<TestShop, 'sql' | 'platform'>): Promise<void> {
  const open = 'select handler from cartwright.jobs where id > 0 or due_at <= now() or lease is not null'
  await expect.poll(() => sql(open)).toEqual([])
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
