import { expect, test } from 'vitest'
import { PATIENCE, useMailingAccounts } from '../../../../test/support/mailing-shop.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const ONE_CLICK = 'List-Unsubscribe=One-Click'

test('one click unsubscribes from optional mails only, and opening the link changes nothing', async () => {
  const shop = await useMailingAccounts()
  const ada = shop.addCustomer('ada@example.com')
  await shop.emitAccountEvent('user_registered', ada, { role: 'customer' })
  const [mail] = await shop.waitForMails(1)
  const header = (name: string) => mail?.headers.find(({ key }) => key === name)?.value
  expect(header('list-unsubscribe-post')).toBe(ONE_CLICK)
  const [, path = ''] =
    /^<https:\/\/api\.shop\.example(\/api\/notifications\/unsubscribe\?token=[\w-]+)>$/.exec(
      header('list-unsubscribe') ?? ''
    ) ?? []
  expect(mail?.text).toContain(path)
  expect(path).not.toContain('ada')

  const page = await shop.anonymous.get(path, undefined, { accept: 'text/html' })
  expect(page.headers['content-security-policy']).toContain("form-action 'self'")
  expect(page.text).toContain('a***@example.com')
  expect(page.text).toContain(`action="${path}"`)
  expect((await shop.anonymous.get(path)).json).toEqual({
    address: 'a***@example.com',
    is_unsubscribed: false
  })

  for (let time = 0; time < 2; time += 1) {
    const clicked = await shop.anonymous.post(path, ONE_CLICK, FORM)
    expect([clicked.status, clicked.json.is_unsubscribed]).toEqual([200, true])
  }
  await shop.emitAccountEvent('user_registered', ada, { role: 'customer' })
  await shop.emitAccountEvent('password_changed', ada)
  await shop.waitForMails(2)
  await expect.poll(shop.statuses, PATIENCE).toEqual(['sent', 'suppressed', 'sent'])
  const transactional = shop.mails.taken[1]?.headers.map(({ key }) => key)
  expect(transactional).not.toContain('list-unsubscribe')

  const list = async (query = '') =>
    (await shop.admin.get(`/api/admin/notifications/suppressions?count=true${query}`)).json
  const [suppression] = (await list('&address=ADA@example.com')).items
  expect(suppression).toMatchObject({ address_masked: 'a***@example.com', reason: 'unsubscribed', times: 1 })
  expect((await list('&address=bob@example.com')).total).toBe(0)
  expect(JSON.stringify(await shop.sql('select * from notifications.suppressions'))).not.toContain('ada@')
  const one = `/api/admin/notifications/suppressions/${suppression.id}`
  expect((await shop.admin.delete(one)).status).toBe(204)
  expect((await shop.admin.delete(one)).json.code).toBe('NOTIFICATION_SUPPRESSION_NOT_FOUND')
  await shop.emitAccountEvent('user_registered', ada, { role: 'customer' })
  await shop.waitForMails(3)
})

test('an e-mail address that does not exist is suppressed after the configured number of bounces', async () => {
  const shop = await useMailingAccounts({ CARTWRIGHT__NOTIFICATIONS__SUPPRESS_AFTER: '2' })
  const [ada, bob] = [shop.addCustomer('gone@example.com'), shop.addCustomer('full@example.com')]
  const unknownUser = { at: 'rcpt', code: 550, text: '5.1.1 no such user' } as const
  for (let time = 1; time <= 2; time += 1) {
    shop.mails.failures.push(unknownUser)
    await shop.emitAccountEvent('password_changed', ada)
    await expect.poll(shop.statuses, PATIENCE).toEqual(Array(time).fill('dead'))
  }
  await shop.emitAccountEvent('password_changed', ada)
  await expect.poll(shop.statuses, PATIENCE).toEqual(['dead', 'dead', 'suppressed'])
  // A full mailbox exists, so it is no bounce.
  shop.mails.failures.push({ at: 'rcpt', code: 552, text: '5.2.2 mailbox full' })
  await shop.emitAccountEvent('password_changed', bob)
  await shop.emitAccountEvent('password_changed', bob)
  await shop.waitForMails(1)
})

test('an accepted mail resets the bounce count of its address', async () => {
  const shop = await useMailingAccounts({ CARTWRIGHT__NOTIFICATIONS__SUPPRESS_AFTER: '2' })
  const ada = shop.addCustomer('ada@example.com')
  const statuses: string[] = []
  for (const status of ['dead', 'sent', 'dead', 'sent']) {
    if (status === 'dead') shop.mails.failures.push({ at: 'rcpt', code: 550, text: '5.1.1 no such user' })
    statuses.push(status)
    await shop.emitAccountEvent('password_changed', ada)
    await expect.poll(shop.statuses, PATIENCE).toEqual(statuses)
  }
  expect(await shop.sql('select * from notifications.suppressions')).toEqual([])
})

test('a forged token in an unsubscribe link is rejected', async () => {
  const shop = await useMailingAccounts()
  for (const token of ['x', Buffer.from('ada@example.com').toString('base64url')]) {
    const path = `/api/notifications/unsubscribe?token=${token}`
    for (const { status, json } of [
      await shop.anonymous.get(path),
      await shop.anonymous.post(path, ONE_CLICK, FORM)
    ])
      expect([status, json.code]).toEqual([400, 'NOTIFICATION_UNSUBSCRIBE_REFUSED'])
  }
  expect(await shop.sql('select * from notifications.suppressions')).toEqual([])
})
