import { expect, test } from 'vitest'
import { useMailingAccounts } from '../../../../test/support/mailing-shop.ts'

const TEMPLATES = '/api/admin/notifications/templates'
const WELCOME = `${TEMPLATES}/welcome/de`
const mine = {
  subject: 'Servus {{ recipient.name }}',
  text: 'Servus, {{ recipient.name }}!',
  html: "{% layout 'layout' %}{% block content %}Servus, <b>{{ recipient.name }}</b>!{% endblock %}"
}

test("an administrator's mail template replaces the built-in one until it is deleted", async () => {
  const shop = await useMailingAccounts()
  const shipped = (await shop.admin.get(WELCOME)).json
  expect(shipped).toMatchObject({
    is_changed: false,
    version: 0,
    example: { recipient: { name: 'Ada Lovelace' } }
  })
  const put = (body: object, version: number) => shop.admin.put(WELCOME, body, { 'if-match': `"${version}"` })
  expect((await put(mine, 0)).json).toMatchObject({ ...mine, is_changed: true, version: 1 })
  expect((await put(mine, 0)).json).toMatchObject({ code: 'NOTIFICATION_TEMPLATE_STALE', version: 1 })
  expect((await put({ ...mine, text: 'Servus!' }, 1)).json.version).toBe(2)

  const ada = shop.addCustomer('ada@example.com', { locale: 'de-AT', name: 'Ada <Lovelace>' })
  await shop.emitAccountEvent('user_registered', ada, { role: 'customer' })
  const [mail] = await shop.waitForMails(1)
  expect([mail?.subject, mail?.text?.trim()]).toEqual(['Servus Ada Lovelace', 'Servus!'])
  const { items } = (await shop.admin.get(TEMPLATES)).json
  const changed = items.filter(({ is_changed }: { is_changed: boolean }) => is_changed)
  expect(changed).toMatchObject([{ name: 'welcome', locale: 'de' }])

  expect((await shop.admin.delete(WELCOME, undefined, { 'if-match': '"1"' })).status).toBe(412)
  expect((await shop.admin.delete(WELCOME)).status).toBe(204)
  expect((await shop.admin.delete(WELCOME)).json.code).toBe('NOTIFICATION_TEMPLATE_NOT_FOUND')
  expect((await shop.admin.get(WELCOME)).json).toEqual(shipped)
  expect((await shop.admin.get(`${TEMPLATES}/welcome/fr`)).status).toBe(404)
  expect((await shop.admin.get(`${TEMPLATES}/nothing/de`)).status).toBe(400)
})

test('a mail template with errors is rejected with their lines, and a preview renders example data', async () => {
  const shop = await useMailingAccounts()
  const wrong = { ...mine, text: 'fine\n{{ recipient.nmae }}', html: '{% if %}' }
  const { status, json } = await shop.admin.put(WELCOME, wrong)
  expect([status, json.code]).toEqual([400, 'NOTIFICATION_TEMPLATE_INVALID'])
  expect(json.errors).toMatchObject([
    { path: 'body/text', line: 2, message: expect.stringContaining('recipient.nmae') },
    { path: 'body/html', line: 1 }
  ])
  expect((await shop.admin.get(WELCOME)).json.version).toBe(0)
  const preview = (body: object) => shop.admin.post('/api/admin/notifications/preview', body)
  const shown = await preview({ template: 'order_placed', locale: 'de', subject: 'Nr. {{ order.number }}' })
  expect(shown.json).toMatchObject({ locale: 'de', subject: 'Nr. K7QD-X2MB' })
  expect(shown.json.html).toContain('Bowl &amp; spoon')
  expect(shown.json.text).toContain('59,70\u00a0€')
  expect((await preview({ template: 'order_placed', text: '{{ secrets }}' })).json.errors).toMatchObject([
    { path: 'body/text', line: 1 }
  ])
})
