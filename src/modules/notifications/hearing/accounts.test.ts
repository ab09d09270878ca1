import { expect, test } from 'vitest'
import { PATIENCE, useMailingAccounts } from '../../../../test/support/mailing-shop.ts'
import { newId } from '../../../kernel/ids.ts'

test('what proves something is in the mail, behind a #, and nowhere else', async () => {
  const shop = await useMailingAccounts()
  const ada = shop.know('ada@example.com', { locale: 'de-CH' })
  const [first, second] = [newId(), newId()]
  const reset = shop.auth.newToken('ada@example.com', 'reset_password')
  const change = shop.auth.newToken('new@example.com', 'change_email')
  shop.auth.hold(first, reset)
  shop.auth.hold(second, change)
  await shop.happen('password_reset_requested', ada, { token_id: first })
  await shop.happen('verification_requested', ada, { token_id: second })
  const taken = await shop.mailed(2)
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

test('an owner is told what happened to the second factor, in their language', async () => {
  const shop = await useMailingAccounts()
  const ada = shop.know('ada@example.com')
  const bob = shop.know('bob@example.com', { locale: 'de-CH' })
  const CHANGES = {
    enrolled: ['was set up', 'eingerichtet'],
    removed: ['was removed', 'entfernt'],
    reset: ['The operator of the shop reset', 'zurückgesetzt'],
    recovery_code_used: ['A recovery code', 'Wiederherstellungscode in'],
    recovery_codes_replaced: ['were replaced', 'ersetzt']
  }
  for (const change of Object.keys(CHANGES))
    for (const owner of [ada, bob]) await shop.happen('second_factor_changed', owner, { change })
  const taken = await shop.mailed(10)
  for (const [english, german] of Object.values(CHANGES)) {
    const sent = taken.filter(
      ({ text = '' }) => text.includes(english as string) || text.includes(german as string)
    )
    expect(sent.map(({ recipient }) => recipient).sort()).toEqual(['ada@example.com', 'bob@example.com'])
  }
})

test('what was used before it could be sent is not sent', async () => {
  const shop = await useMailingAccounts()
  const ada = shop.know('ada@example.com')
  const id = newId()
  shop.auth.hold(id, shop.auth.newToken('ada@example.com'))
  shop.mails.mischief.push({ at: 'rcpt', code: 451, says: '4.7.1 later' })
  await shop.happen('verification_requested', ada, { token_id: id })
  await expect.poll(async () => (await shop.messages())[0]?.attempts, PATIENCE).toBe(1)
  shop.auth.hold(id, undefined)
  await shop.hurry()
  await expect.poll(shop.statuses, PATIENCE).toEqual(['skipped'])
  expect(shop.mails.taken).toEqual([])
})

test('who has another address is told at the one before; who has left is told nothing, and forgotten', async () => {
  const shop = await useMailingAccounts()
  const ada = shop.know('new@example.com', { formerEmail: 'old@example.com' })
  const bob = shop.know('bob@example.com')
  await shop.happen('email_changed', ada)
  await shop.mailed(1)
  shop.mails.mischief.push({ at: 'rcpt', code: 451, says: '4.7.1 later' })
  await shop.happen('password_changed', ada)
  await shop.happen('password_changed', bob)
  await shop.mailed(2)
  expect(shop.mails.taken.map(({ recipient }) => recipient)).toEqual(['old@example.com', expect.anything()])
  expect(JSON.stringify(await shop.auth.exportUser(ada))).toContain('new@example.com')
  await shop.db.transaction(tx => shop.auth.eraseUser(tx, ada))
  const left = JSON.stringify(await shop.messages())
  for (const word of [ada, 'new@example.com', 'old@example.com']) expect(left).not.toContain(word)
  expect(left).toContain('bob@example.com')
})
