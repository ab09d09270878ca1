import { expect, test } from 'vitest'
import { PATIENCE, useMailingAccounts } from '../../../../test/support/mailing-shop.ts'
import { newId } from '../../../kernel/ids.ts'

const MESSAGES = '/api/admin/notifications'

test('administrators list mail messages, retry dead ones and cancel pending ones', async () => {
  const shop = await useMailingAccounts()
  const [ada, bob] = [shop.addCustomer('ada@example.com'), shop.addCustomer('bob@example.com')]
  shop.mails.failures.push({ at: 'data', code: 554, text: '5.7.1 spam' })
  await shop.emitAccountEvent('password_changed', ada)
  await expect.poll(shop.statuses, PATIENCE).toEqual(['dead'])
  shop.mails.failures.push({ at: 'data', code: 451, text: '4.3.0 later' })
  await shop.emitAccountEvent('email_changed', bob)
  await expect.poll(async () => (await shop.messages())[1]?.attempts, PATIENCE).toBe(1)

  const list = async (query: string) => (await shop.admin.get(`${MESSAGES}?count=true${query}`)).json
  const [waiting, dead] = (await list('')).items
  expect(dead).toMatchObject({ status: 'dead', attempts: 1, due_at: null, recipient: 'ada@example.com' })
  expect(waiting).toMatchObject({ status: 'pending', attempts: 1, error: expect.stringContaining('4.3.0') })
  expect(new Date(waiting.due_at).getTime()).toBeGreaterThan(new Date(waiting.created_at).getTime())
  for (const query of ['&status=dead', '&template=password_changed', '&recipient=Ada@Example.com'])
    expect((await list(query)).items.map(({ id }: { id: string }) => id)).toEqual([dead.id])
  const page = await list('&limit=1')
  expect((await list(`&limit=1&cursor=${page.next_cursor}`)).items).toEqual([dead])
  expect((await shop.admin.get(`${MESSAGES}/${dead.id}`)).json).toMatchObject({
    id: dead.id,
    recipient_name: 'Ada Lovelace',
    data: { at: expect.any(String) }
  })

  const act = (id: string, what: string) => shop.admin.post(`${MESSAGES}/${id}/${what}`)
  expect((await act(dead.id, 'cancel')).json).toMatchObject({
    code: 'NOTIFICATION_STATUS_FORBIDS',
    message_status: 'dead'
  })
  expect((await act(waiting.id, 'cancel')).json).toMatchObject({ status: 'canceled', attempts: 1 })
  expect((await act(waiting.id, 'retry')).status).toBe(409)
  expect((await act(newId(), 'retry')).json.code).toBe('NOTIFICATION_NOT_FOUND')
  await act(dead.id, 'retry')
  const [mail] = await shop.waitForMails(1)
  expect(mail?.messageId).toBe(`<${dead.id}@shop.example>`)
  await shop.hurry()
  await expect.poll(shop.statuses, PATIENCE).toEqual(['sent', 'canceled'])
  const left = 'select 1 from cartwright.jobs where id > 0'
  await expect.poll(() => shop.sql(left), PATIENCE).toEqual([])
  expect(shop.mails.taken).toHaveLength(1)
})

test('a message whose first attempt to send runs is listed as pending', async () => {
  const shop = await useMailingAccounts()
  await shop.emitAccountEvent('password_changed', shop.addCustomer('ada@example.com'))
  await shop.waitForMails(1)
  await expect.poll(shop.statuses, PATIENCE).toEqual(['sent'])
  const list = async (status: string) => {
    const { items, total } = (await shop.admin.get(`${MESSAGES}?count=true&status=${status}`)).json
    return [total, items.map((item: { status: string }) => item.status)]
  }
  expect([await list('sent'), await list('pending')]).toEqual([
    [1, ['sent']],
    [0, []]
  ])
  await shop.sql(`update notifications.messages set status = 'pending', settled_at = null`)
  expect([await list('sent'), await list('pending')]).toEqual([
    [0, []],
    [1, ['pending']]
  ])
})
