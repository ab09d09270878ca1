import { expect, test } from 'vitest'
import { newId } from '../../../kernel/ids.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { SMTP_CONNECTIONS_MAX } from '../settings.ts'
import { createNotificationQueue, type NotificationDraft } from './service.ts'

const draft = (): NotificationDraft => ({
  sourceId: newId(),
  template: 'order_placed',
  to: { email: 'ada@example.com', name: null, customerId: null, locale: null },
  data: {}
})
const tx = { rows: async () => [] } as unknown as Transaction

function useQueue() {
  const queued: string[] = []
  const answered = Promise.withResolvers<void>()
  const { queueOrSend } = createNotificationQueue({
    enqueue: (_tx, _type, payload) => queued.push((payload as { message_id: string }).message_id),
    send: () => answered.promise,
    locale: 'en',
    giveUpSeconds: 60
  })
  return { queued, answer: answered.resolve, queueOrSend }
}

test('jobs send messages while too many are being sent', async () => {
  const { queued, answer, queueOrSend } = useQueue()
  const sending: (Promise<void> | undefined)[] = []
  for (let count = 0; count < SMTP_CONNECTIONS_MAX; count += 1)
    sending.push((await queueOrSend(tx, [draft()]))?.(AbortSignal.timeout(1_000)))
  expect([sending.includes(undefined), queued]).toEqual([false, []])
  expect(await queueOrSend(tx, [draft()])).toBeUndefined()
  expect(queued).toHaveLength(1)
  answer()
  await Promise.all(sending)
  expect(await queueOrSend(tx, [draft()])).toBeTypeOf('function')
})

test('jobs send the messages of events that are handled together', async () => {
  const { queued, queueOrSend } = useQueue()
  expect(await queueOrSend(tx, [draft(), draft()])).toBeUndefined()
  expect(queued).toHaveLength(2)
})
