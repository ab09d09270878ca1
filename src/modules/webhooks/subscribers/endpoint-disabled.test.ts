import { expect, test } from 'vitest'
import { broken } from '../../../../test/support/webhook-receiver.ts'
import { ENDPOINTS, PATIENCE, useWebhooks } from '../../../../test/support/webhooks.ts'
import { notificationsModule } from '../../notifications/index.ts'

const STAFF = { CARTWRIGHT__NOTIFICATIONS__STAFF: '[ops@shop.example, boss@shop.example]' }

/** A shop with two staff addresses, and their mails. */
async function useStaff(settings: Record<string, string> = {}) {
  const shop = await useWebhooks({ ...STAFF, ...settings }, notificationsModule)
  const host = `127.0.0.1:${shop.receiver.port}`
  const mails = () => shop.sql('select * from notifications.mailbox order by recipient')
  const isOff = async (id: string) =>
    expect.poll(async () => (await shop.admin.get(`${ENDPOINTS}/${id}`)).json.active, PATIENCE).toBe(false)
  return { ...shop, host, mails, isOff }
}

test('staff get a mail that names the disabled webhook endpoint, the reason, and how to enable it', async () => {
  const shop = await useStaff()
  const { receiver, host } = shop
  receiver.at('/secret-part', response => response.writeHead(500, { 'retry-after': '3600' }).end('<no> room'))
  const url = `https://${host}/secret-part`
  const failing = await shop.subscribe({ url, description: 'ERP' })
  await shop.emitOrderPlaced()
  await expect.poll(() => shop.retryCount(), PATIENCE).toBe(1)
  await shop.sql(`update webhooks.endpoints set failing_since = '2026-01-26T12:00:00Z'`)
  await shop.emitOrderPlaced()
  await shop.isOff(failing.id)
  await expect.poll(async () => (await shop.mails()).length, PATIENCE).toBe(2)
  const mails = await shop.mails()
  expect(mails.map(({ recipient }) => recipient)).toEqual(['boss@shop.example', 'ops@shop.example'])
  for (const { subject, body_text: text, body_html: html } of mails) {
    expect(subject).toBe(`Webhooks to ${host} are switched off`)
    const expected = [
      'January 26, 2026',
      `${host} (ERP)`,
      'it answered 500',
      '<no> room',
      failing.id,
      '"active": true'
    ]
    for (const words of expected) expect(text).toContain(words)
    expect(html).toContain('&lt;no&gt; room')
    expect(`${text}${html}`).not.toContain('secret-part')
  }

  receiver.replies.push(response => response.writeHead(410).end())
  const gone = await shop.subscribe()
  await shop.emitOrderPlaced()
  await shop.isOff(gone.id)
  await expect.poll(async () => (await shop.mails()).length, PATIENCE).toBe(4)
  const texts = (await shop.mails()).map(({ body_text }) => String(body_text))
  expect(texts.filter(text => text.includes('gone') && text.includes(gone.id))).toHaveLength(2)
})

test('no mail about a disabled webhook endpoint is queued when the template is switched off', async () => {
  const shop = await useStaff({ CARTWRIGHT__NOTIFICATIONS__OFF: '[webhooks_off]' })
  shop.receiver.replies.push(broken, response => response.writeHead(410).end())
  const { id } = await shop.subscribe()
  await shop.emitOrderPlaced()
  await expect.poll(() => shop.retryCount(), PATIENCE).toBe(1)
  await shop.emitOrderPlaced()
  await shop.isOff(id)
  const unhandled = `select 1 from cartwright.jobs where handler = 'webhooks:webhooks.endpoint_disabled'`
  await expect.poll(() => shop.sql(unhandled), PATIENCE).toEqual([])
  expect(await shop.sql('select 1 from notifications.messages')).toEqual([])
})
