import { expect, test } from 'vitest'
import { PATIENCE, useMailingAccounts } from '../../../../test/support/mailing-shop.ts'

type Shop = Awaited<ReturnType<typeof useMailingAccounts>>

const FAULT = '{{ unheard_of }}'
const TEMPLATES = '/api/admin/notifications/templates/password_changed'

/** Stores a template with a text that the API refuses, because it may use an unknown variable. */
async function write(shop: Shop, locale: string, text: string): Promise<void> {
  const stored = await shop.admin.put(`${TEMPLATES}/${locale}`, { subject: 'S', text: 'T', html: 'H' })
  expect(stored.status, stored.text).toBe(200)
  await shop.sql(
    `update notifications.templates set body_text = $2 where name = 'password_changed' and locale = $1`,
    [locale, text]
  )
}

/** Sends `password_changed` to a customer with this language, and returns the mail and the stored message. */
async function sendIn(shop: Shop, locale: string) {
  const before = shop.mails.taken.length
  await shop.emitAccountEvent('password_changed', shop.addCustomer(`${locale}@example.com`, { locale }))
  await expect.poll(async () => (await shop.statuses()).at(-1), PATIENCE).toMatch(/sent|dead/)
  const { items } = (await shop.admin.get('/api/admin/notifications?limit=1')).json
  return { text: shop.mails.taken[before]?.text?.trim(), message: items[0] }
}

test('a mail template that fails is replaced by the next fallback, and the message tells administrators why', async () => {
  const shop = await useMailingAccounts({ CARTWRIGHT__NOTIFICATIONS__LOCALE: 'de' })
  await write(shop, 'fr-CA', `bien\n${FAULT}`)
  const fallback = await sendIn(shop, 'fr-CA')
  expect(fallback.text).toContain('Passwort')
  expect(fallback.message).toMatchObject({
    status: 'sent',
    error: expect.stringMatching(/fr-CA.*text, line 2.*unheard_of/)
  })
  expect(shop.log.join('')).toContain('a template fails')

  await write(shop, 'fr', 'Bonjour')
  expect((await sendIn(shop, 'fr-CA')).text).toBe('Bonjour')
  expect((await sendIn(shop, 'fr')).message).toMatchObject({ status: 'sent', error: null })

  // In the shop's language, the template of an administrator comes before the built-in one.
  await write(shop, 'de', 'Grüezi')
  expect((await sendIn(shop, 'it')).text).toBe('Grüezi')
  await shop.sql(`update notifications.templates set body_text = $1 where locale in ('fr', 'de')`, [FAULT])
  expect((await sendIn(shop, 'de')).text).toContain('Passwort')
  const last = await sendIn(shop, 'fr-CA')
  expect(last.text).toContain('Passwort')
  expect(last.message.error).toContain('fr-CA')

  expect((await shop.admin.delete(`${TEMPLATES}/de`)).status).toBe(204)
  expect((await sendIn(shop, 'de')).message.error).toBeNull()
})
