import { expect, test } from 'vitest'
import { usePayments } from '../../../../test/support/payments.ts'
import { provide } from '../../../kernel/ports.ts'
import { diagnosePaymentMethods, diagnosePaymentSettings } from '../diagnosis.ts'
import { type PaymentProvider, paymentProviderPort } from './port.ts'
import { createPaymentProviderRegistry } from './registry.ts'

const PRODUCTION = {
  NODE_ENV: 'production',
  CARTWRIGHT__PAYMENTS__SANDBOX__MODE: 'auto',
  CARTWRIGHT__PAYMENTS__SANDBOX__URL: ''
}
const DETAILS = { CARTWRIGHT__PAYMENTS__BANK_TRANSFER: 'SE35 5000 0000 0549 1000 0003' }

test('production neither offers nor accepts bank transfer without account details', async () => {
  const { order, as, buyer, request } = await usePayments({ settings: PRODUCTION })
  expect((await request('GET', '/api/payments/methods')).json.items).toEqual([])
  const order_id = await order()
  const begin = (fields: object) => as(buyer).post('/api/payments/intent', { order_id, ...fields })
  expect((await begin({})).json).toMatchObject({ code: 'PAYMENT_PROVIDER_UNKNOWN', providers: [] })
  expect((await begin({ provider: 'manual' })).json).toMatchObject({
    code: 'PAYMENT_METHOD_UNKNOWN',
    methods: []
  })
  expect((await begin({ provider: 'manual', method: 'bank_transfer' })).json.code).toBe(
    'PAYMENT_METHOD_UNKNOWN'
  )
})

test('production offers the other manual methods without account details', async () => {
  const methods = { CARTWRIGHT__PAYMENTS__MANUAL_METHODS: '[bank_transfer, on_account]' }
  const { order, intent, request } = await usePayments({ settings: { ...PRODUCTION, ...methods } })
  expect((await request('GET', '/api/payments/methods')).json.items).toMatchObject([{ method: 'on_account' }])
  expect(await intent(await order())).toMatchObject({ method: 'on_account' })
})

test('production offers bank transfer with account details and the order number', async () => {
  const { order, intent, request } = await usePayments({ settings: { ...PRODUCTION, ...DETAILS } })
  expect((await request('GET', '/api/payments/methods')).json.items).toMatchObject([
    { method: 'bank_transfer' }
  ])
  const orderId = await order()
  expect((await intent(orderId)).action).toEqual({
    type: 'bank_transfer',
    text: DETAILS.CARTWRIGHT__PAYMENTS__BANK_TRANSFER,
    reference: `number of ${orderId}`
  })
})

test.each([
  ['warning', { manual_methods: ['bank_transfer'], bank_transfer: ' ' }],
  ['warning', { manual_methods: ['bank_transfer', 'on_account'], bank_transfer: '' }],
  ['ok', { manual_methods: ['bank_transfer'], bank_transfer: 'SE35' }],
  ['ok', { manual_methods: ['on_account'], bank_transfer: '' }]
] as const)('doctor finds on bank transfer in production: %s', async (state, manual) => {
  const settings = { stripe: { secret_key: '' }, ...manual } as unknown as Parameters<
    typeof diagnosePaymentSettings
  >[0]
  const [check] = diagnosePaymentSettings(settings, { config: { environment: 'production' } })
  expect(await check?.find()).toMatchObject({ state })
})

test.each([
  ['warning', 'none is offered', []],
  ['ok', 'mollie (card, ideal)', ['card', 'ideal']]
] as const)('doctor finds on payment methods: %s, %s', async (state, detail, methods) => {
  const registry = createPaymentProviderRegistry({
    read: () => [provide(paymentProviderPort, 'mollie', { methods } as unknown as PaymentProvider)],
    settings: { default_provider: 'auto', retired_providers: [] },
    onRecovered: () => {}
  })
  const [check] = diagnosePaymentMethods(registry)
  expect(await check?.find()).toMatchObject({ state, detail: expect.stringContaining(detail) })
})
