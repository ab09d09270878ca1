import { expect, test } from 'vitest'
import { doOnceMore } from '../../../../test/support/jobs.ts'
import { PATIENCE, useMailingShop } from '../../../../test/support/mailing-shop.ts'
import { sent } from '../../../../test/support/orders.ts'
import { pauseSeconds } from './pause.ts'

type MailingShop = Awaited<ReturnType<typeof useMailingShop>>

/** A guest orders, and the shop cancels it: the mail says so. */
async function cancelOne(shop: MailingShop, email: string) {
  const { json } = await shop.anybody.post('/api/orders/guest', { ...sent(shop.mug), email })
  const path = `/api/admin/orders/${json.id}/cancel`
  const { status, text } = await shop.admin.post(path, { reason: 'It was a mistake.' })
  expect(status, text).toBe(200)
}
/** Whatever is put off is tried until that many messages are over. */
const settled = (shop: MailingShop, count: number) =>
  expect
    .poll(async () => {
      await shop.hurry()
      return (await shop.statuses()).filter(status => status !== 'pending').length
    }, PATIENCE)
    .toBe(count)

test('what is refused for now, or lost on the way, comes again with the same Message-ID', async () => {
  const shop = await useMailingShop()
  shop.mails.mischief.push(
    { at: 'rcpt', code: 451, says: '4.7.1 try later' },
    { at: 'data', code: 452, says: '4.3.1 no room' },
    { at: 'data', drop: 'before' },
    { at: 'data', drop: 'after' }
  )
  await cancelOne(shop, 'ada@example.com')
  await settled(shop, 1)
  const [message, ...more] = await shop.messages()
  expect(more).toEqual([])
  expect(message).toMatchObject({ status: 'sent', attempts: 5, error: null })
  // It was taken, and nobody was told so; then it came again.
  expect(shop.mails.taken.map(({ messageId, date }) => [messageId, date])).toEqual(
    Array(2).fill([`<${message?.id}@shop.example>`, shop.mails.taken[0]?.date])
  )
})

test('what is refused for good is dead, and says why without an address', async () => {
  const shop = await useMailingShop()
  shop.mails.mischief.push({ at: 'rcpt', code: 550, says: '5.1.1 <nobody@example.com> is not known' })
  await cancelOne(shop, 'nobody@example.com')
  await settled(shop, 1)
  const [message] = await shop.messages()
  expect(message).toMatchObject({ status: 'dead', attempts: 1 })
  expect(message?.error).toContain('5.1.1')
  expect(message?.error).not.toContain('nobody@example.com')
  expect(shop.mails.taken).toEqual([])
})

test('a server that says nothing holds up no other job, and what it was sent comes when it is back', async () => {
  const shop = await useMailingShop({ CARTWRIGHT__NOTIFICATIONS__SMTP__CONNECTIONS: '2' })
  shop.mails.mischief.push({ at: 'data', hang: true }, { at: 'data', hang: true })
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

test('pauses grow, and never beyond half an hour, or half as much again', () => {
  expect([1, 2, 3].map(attempts => pauseSeconds(attempts, 0.5))).toEqual([5, 15, 45])
  expect(pauseSeconds(1_000_000, 0.5)).toBe(1_800)
  expect([pauseSeconds(9, 0), pauseSeconds(9, 1)]).toEqual([900, 2_700])
})
