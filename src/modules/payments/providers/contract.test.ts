import { test } from 'vitest'
import { usePayments, useSandbox, WEBHOOK_SECRET } from '../../../../test/support/payments.ts'
import { testSecrets } from '../../../../test/support/secrets.ts'
import { signed, useStripe, WEBHOOK_SECRETS } from '../../../../test/support/stripe.ts'
import { signSandboxWebhook } from '../../../payment-sandbox/signature.ts'
import { type PaymentProviderContractSubject, paymentProviderContract } from '../../../testing.ts'
import { createManualPaymentProvider } from './manual.ts'
import type { PaymentForProvider } from './port.ts'
import { createSandboxPaymentProvider } from './sandbox.ts'
import { createStripePaymentProvider } from './stripe.ts'

async function expectContract(subject: PaymentProviderContractSubject): Promise<void> {
  for (const { name, run } of paymentProviderContract(subject))
    await run().catch(error => {
      throw new Error(name, { cause: error })
    })
}

test('manual payments keep the contract of a payment provider', () =>
  expectContract({
    provider: createManualPaymentProvider({
      methods: ['bank_transfer'],
      bankTransfer: '',
      isProduction: false
    }),
    currency: 'EUR'
  }))

test('Stripe keeps the contract of a payment provider', async () => {
  const stripe = await useStripe()
  const { platform } = await usePayments()
  const settings = {
    secret_key: stripe.settings.CARTWRIGHT__PAYMENTS__STRIPE__SECRET_KEY,
    publishable_key: 'pk_test',
    webhook_secrets: [...WEBHOOK_SECRETS],
    url: stripe.settings.CARTWRIGHT__PAYMENTS__STRIPE__URL
  }
  await expectContract({
    provider: createStripePaymentProvider({ http: platform.http, settings, capture: 'automatic' }),
    currency: 'EUR',
    unsupportedCurrency: 'UGX',
    pay: async ({ id }) => {
      stripe.engine.commit(stripe.engine.operations.pay(stripe.intentOf(id), 'pm_card_visa'))
    },
    loseNextAnswer: () => void stripe.fault('drop'),
    callbackOf: async (payment, at) => {
      stripe.engine.commit(stripe.engine.operations.pay(stripe.intentOf(payment.id), 'pm_card_visa'))
      const { body, headers } = signed(stripe.events().at(-1), { at: at.getTime() })
      return { raw: body, headers }
    }
  })
})

test('the sandbox keeps the contract of a payment provider', async () => {
  const { platform } = await usePayments()
  const sandbox = await useSandbox()
  const intentOf = ({ id }: PaymentForProvider) => sandbox.intentOf(id)
  await expectContract({
    provider: createSandboxPaymentProvider({
      http: platform.http,
      address: async () => sandbox.url,
      key: testSecrets().mac('payments.sandbox', 'key'),
      webhookSecrets: [WEBHOOK_SECRET],
      capture: 'automatic'
    }),
    currency: 'EUR',
    pay: async payment => {
      await sandbox.ask(`/test/payment_intents/${(await intentOf(payment)).id}/pay`, {})
    },
    loseNextAnswer: async () => {
      await sandbox.fault('drop')
    },
    callbackOf: async (payment, at) => {
      const object = await intentOf(payment)
      const event = {
        id: 'evt_1',
        object: 'event',
        type: 'payment_intent.created',
        created: 1,
        data: { object }
      }
      const raw = Buffer.from(JSON.stringify(event))
      return { raw, headers: { 'sandbox-signature': signSandboxWebhook(WEBHOOK_SECRET, raw, at) } }
    }
  })
})
