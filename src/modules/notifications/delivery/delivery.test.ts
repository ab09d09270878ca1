import { expect, test } from 'vitest'
import { doOnceMore } from '../../../../test/support/jobs.ts'
import { PATIENCE, useMailingShop } from '../../../../test/support/mailing-shop.ts'
import { sent } from '../../../../test/support/orders.ts'
import { mailRetryDelaySeconds } from './service.ts'

type MailingShop = Awaited<ReturnType<typeof useMailingShop>>

/** Creates and cancels a guest order, which queues one `order_canceled` mail. */
async function cancelOne(shop: MailingShop, email: string) {
  const { json } = await shop.anonymous.post('/api/orders/guest', { ...sent(shop.mug), email })
  const path = `/api/admin/orders/${json.id}/cancel`
  const { status, text } = await shop.admin.post(path, { reason: 'It was a mistake.' })
  expect(status, text).toBe(200)
}
/** Hurries retries until this number of messages has a final status. */
const settled = (shop: MailingShop, count: number) =>
  expect
    .poll(async () => {
      await shop.hurry()
      return (await shop.statuses()).filter(status => status !== 'pending').length
    }, PATIENCE)
    .toBe(count)

test('a mail that is rejected temporarily, or whose connection breaks, is sent again with the same Message-ID', async () => {
  const shop = await useMailingShop()
  shop.mails.failures.push(
    { at: 'rcpt', code: 451, text: '4.7.1 try later' },
    { at: 'data', code: 452, text: '4.3.1 no room' },
    { at: 'data', drop: 'before' },
    { at: 'data', drop: 'after' }
  )
  await cancelOne(shop, 'ada@example.com')
  await settled(shop, 1)
  const [message, ...more] = await shop.messages()
  expect(more).toEqual([])
  expect(message).toMatchObject({ status: 'sent', attempts: 5, error: null })
  // The server accepted it and closed the connection before it answered, so it was sent again.
  expect(shop.mails.taken.map(({ messageId, date }) => [messageId, date])).toEqual(
    Array(2).fill([`<${message?.id}@shop.example>`, shop.mails.taken[0]?.date])
  )
})

test('a mail that is rejected permanently becomes dead, and its error does not contain the address', async () => {
  const shop = await useMailingShop()
  shop.mails.failures.push({ at: 'rcpt', code: 550, text: '5.1.1 <unknown@example.com> is not known' })
  await cancelOne(shop, 'unknown@example.com')
  await settled(shop, 1)
  const [message] = await shop.messages()
  expect(message).toMatchObject({ status: 'dead', attempts: 1 })
  expect(message?.error).toContain('5.1.1')
  expect(message?.error).not.toContain('unknown@example.com')
  expect(shop.mails.taken).toEqual([])
})

test('a mail server that hangs delays no other job, and gets its mails when it responds again', async () => {
  const shop = await useMailingShop({ CARTWRIGHT__NOTIFICATIONS__SMTP__CONNECTIONS: '2' })
  shop.mails.failures.push({ at: 'data', hang: true }, { at: 'data', hang: true })
  for (const name of ['a', 'b', 'c', 'd', 'e']) await cancelOne(shop, `${name}@example.com`)
  await expect.poll(() => shop.mails.hanging(), PATIENCE).toBe(2)
  await doOnceMore(shop, 'payments.reconcile')
  expect(shop.mails.taken).toEqual([])
  shop.mails.hangUp()
  await settled(shop, 5)
  expect(shop.mails.taken.map(({ recipient }) => recipient).sort()).toEqual(
    ['a', 'b', 'c', 'd', 'e'].map(name => `${name}@example.com`)
  )
})

test('retry delays of mails grow to half an hour, and vary by half of it at most', () => {
  expect([1, 2, 3].map(attempts => mailRetryDelaySeconds(attempts, 0.5))).toEqual([5, 15, 45])
  expect(mailRetryDelaySeconds(1_000_000, 0.5)).toBe(1_800)
  expect([mailRetryDelaySeconds(9, 0), mailRetryDelaySeconds(9, 1)]).toEqual([900, 2_700])
})
