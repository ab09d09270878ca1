import { expect, test } from 'vitest'
import { PATIENCE, useMailingAccounts } from '../../../../test/support/mailing-shop.ts'
import { newId } from '../../../kernel/ids.ts'

test('an account token is in its mail behind a #, and in no table and no log', async () => {
  const shop = await useMailingAccounts()
  const ada = shop.addCustomer('ada@example.com', { locale: 'de-CH' })
  const [first, second] = [newId(), newId()]
  const reset = shop.auth.newToken('ada@example.com', 'reset_password')
  const change = shop.auth.newToken('new@example.com', 'change_email')
  shop.auth.setToken(first, reset)
  shop.auth.setToken(second, change)
  await shop.emitAccountEvent('password_reset_requested', ada, { token_id: first })
  await shop.emitAccountEvent('verification_requested', ada, { token_id: second })
  const taken = await shop.waitForMails(2)
  const to = (address: string) => taken.find(({ recipient }) => recipient === address)
  const mail = to('ada@example.com')
  expect(mail?.subject).toBe('Wählen Sie ein neues Passwort')
  expect(mail?.text).toContain(`https://shop.example/reset-password#token=${reset.token}`)
  expect(to('new@example.com')?.html).toContain(`/verify-email#token=${change.token}`)
  const tables = await shop.sql(
    'select to_jsonb(m) from notifications.messages m union all select to_jsonb(j) from cartwright.jobs j'
  )
  for (const { token } of [reset, change]) expect(JSON.stringify(tables)).not.toContain(token)
  expect(shop.log.join('')).not.toContain(reset.token)
})

test('the owner of an account gets a mail about each change of the second factor, in their language', async () => {
  const shop = await useMailingAccounts()
  const ada = shop.addCustomer('ada@example.com')
  const bob = shop.addCustomer('bob@example.com', { locale: 'de-CH' })
  const CHANGES = {
    enrolled: ['was set up', 'eingerichtet'],
    removed: ['was removed', 'entfernt'],
    reset: ['The operator of the shop reset', 'zurückgesetzt'],
    recovery_code_used: ['A recovery code', 'Wiederherstellungscode in'],
    recovery_codes_replaced: ['were replaced', 'ersetzt']
  }
  for (const change of Object.keys(CHANGES))
    for (const owner of [ada, bob]) await shop.emitAccountEvent('second_factor_changed', owner, { change })
  const taken = await shop.waitForMails(10)
  for (const [english, german] of Object.values(CHANGES)) {
    const sent = taken.filter(
      ({ text = '' }) => text.includes(english as string) || text.includes(german as string)
    )
    expect(sent.map(({ recipient }) => recipient).sort()).toEqual(['ada@example.com', 'bob@example.com'])
  }
})

test('an account token that was used before its mail was sent is not mailed', async () => {
  const shop = await useMailingAccounts()
  const ada = shop.addCustomer('ada@example.com')
  const id = newId()
  shop.auth.setToken(id, shop.auth.newToken('ada@example.com'))
  shop.mails.failures.push({ at: 'rcpt', code: 451, text: '4.7.1 later' })
  await shop.emitAccountEvent('verification_requested', ada, { token_id: id })
  await expect.poll(async () => (await shop.messages())[0]?.attempts, PATIENCE).toBe(1)
  shop.auth.setToken(id, undefined)
  await shop.hurry()
  await expect.poll(shop.statuses, PATIENCE).toEqual(['skipped'])
  expect(shop.mails.taken).toEqual([])
})

test('a changed e-mail address is mailed to the previous one, and erasing an account deletes its messages', async () => {
  const shop = await useMailingAccounts()
  const ada = shop.addCustomer('new@example.com', { formerEmail: 'old@example.com' })
  const bob = shop.addCustomer('bob@example.com')
  await shop.emitAccountEvent('email_changed', ada)
  await shop.waitForMails(1)
  shop.mails.failures.push({ at: 'rcpt', code: 451, text: '4.7.1 later' })
  await shop.emitAccountEvent('password_changed', ada)
  await shop.emitAccountEvent('password_changed', bob)
  await shop.waitForMails(2)
  expect(shop.mails.taken.map(({ recipient }) => recipient)).toEqual(['old@example.com', expect.anything()])
  expect(JSON.stringify(await shop.auth.exportUser(ada))).toContain('new@example.com')
  await shop.db.transaction(tx => shop.auth.eraseUser(tx, ada))
  const left = JSON.stringify(await shop.messages())
  for (const word of [ada, 'new@example.com', 'old@example.com']) expect(left).not.toContain(word)
  expect(left).toContain('bob@example.com')
})
