import { expect, test } from 'vitest'
import { PATIENCE, useMailingAccounts } from '../../../../test/support/mailing-shop.ts'

type Shop = Awaited<ReturnType<typeof useMailingAccounts>>

const FAULT = '{{ unheard_of }}'
const TEMPLATES = '/api/admin/notifications/templates/password_changed'

/** A template that was well when it was written, and knows something no more. */
const write = (shop: Shop, locale: string, text: string) =>
  shop.sql(
    `insert into notifications.templates (name, locale, subject, body_text, body_html)
     values ('password_changed', $1, 'S', $2, 'H')`,
    [locale, text]
  )

/** What somebody of this language is sent. */
async function tell(shop: Shop, locale: string) {
  const before = shop.mails.taken.length
  await shop.happen('password_changed', shop.know(`${locale}@example.com`, { locale }))
  await expect.poll(async () => (await shop.statuses()).at(-1), PATIENCE).toMatch(/sent|dead/)
  const { items } = (await shop.admin.get('/api/admin/notifications?limit=1')).json
  return { text: shop.mails.taken[before]?.text?.trim(), message: items[0] }
}

test('for a template that fails the next one stands in, and administrators see why', async () => {
  const shop = await useMailingAccounts({ CARTWRIGHT__NOTIFICATIONS__LOCALE: 'de' })
  await write(shop, 'fr-CA', `bien\n${FAULT}`)
  const fallen = await tell(shop, 'fr-CA')
  expect(fallen.text).toContain('Passwort')
  expect(fallen.message).toMatchObject({
    status: 'sent',
    error: expect.stringMatching(/fr-CA.*text, line 2.*unheard_of/)
  })
  expect(shop.log.join('')).toContain('a template fails')

  await write(shop, 'fr', 'Bonjour')
  expect((await tell(shop, 'fr-CA')).text).toBe('Bonjour')
  expect((await tell(shop, 'fr')).message).toMatchObject({ status: 'sent', error: null })

  // The shop's own language has one that comes along, and one that is well goes before it.
  await write(shop, 'de', 'Grüezi')
  expect((await tell(shop, 'it')).text).toBe('Grüezi')
  await shop.sql(`update notifications.templates set body_text = $1 where locale in ('fr', 'de')`, [FAULT])
  expect((await tell(shop, 'de')).text).toContain('Passwort')
  const last = await tell(shop, 'fr-CA')
  expect(last.text).toContain('Passwort')
  expect(last.message.error).toContain('fr-CA')

  expect((await shop.admin.delete(`${TEMPLATES}/de`)).status).toBe(204)
  expect((await tell(shop, 'de')).message.error).toBeNull()
})
