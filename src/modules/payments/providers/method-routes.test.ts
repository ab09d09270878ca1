import { expect, test } from 'vitest'
import { usePayments } from '../../../../test/support/payments.ts'
import { useStripe } from '../../../../test/support/stripe.ts'

test('the list of payment methods contains no secret', async () => {
  const { settings } = await useStripe()
  const methods = JSON.stringify(['bank_transfer', 'on_account'])
  const { as } = await usePayments({
    settings: { ...settings, CARTWRIGHT__PAYMENTS__MANUAL_METHODS: methods }
  })
  const ask = (query = '', headers = {}) => as(null).get(`/api/payments/methods${query}`, undefined, headers)
  const answer = await ask()
  const publishable_key = settings.CARTWRIGHT__PAYMENTS__STRIPE__PUBLISHABLE_KEY
  expect(answer.json).toEqual({
    items: [
      { provider: 'stripe', method: 'card', kind: 'client', publishable_key },
      { provider: 'sandbox', method: 'card', kind: 'redirect' },
      { provider: 'manual', method: 'bank_transfer', kind: 'offline' },
      { provider: 'manual', method: 'on_account', kind: 'offline' }
    ]
  })
  expect(answer.headers['cache-control']).toBe('public, max-age=0, stale-if-error=300')
  const { etag = '' } = answer.headers
  expect((await ask('', { 'if-none-match': String(etag) })).status).toBe(304)
  expect((await ask('?currency=EUR')).json).toEqual(answer.json)
  const providers = (await ask('?currency=ISK')).json.items.map((item: { provider: string }) => item.provider)
  expect(providers).toEqual(['sandbox', 'manual', 'manual'])
  expect((await ask('?currency=euro')).status).toBe(400)
})
