import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { standardModules } from '../src/app.ts'
import { loadConfig } from '../src/config.ts'

const page = await readFile(new URL('../docs/stripe.md', import.meta.url), 'utf8')
const [, block = ''] = /^```text\n(CARTWRIGHT__.*?)^```$/ms.exec(page) ?? []
const variables = block.trim().split('\n')
/** The variables of the page as the environment, without those in `omitted`. */
const environment = (omitted = '') =>
  Object.fromEntries(
    variables.filter(line => omitted === '' || !line.includes(omitted)).map(line => line.split('='))
  )

test('the variables in docs/stripe.md configure the keys of Stripe', () => {
  const { payments } = loadConfig(standardModules, environment(), {}) as unknown as {
    payments: { default_provider: string; stripe: object }
  }
  expect(payments.default_provider).toBe('auto')
  expect(payments.stripe).toMatchObject({
    secret_key: 'sk_test_...',
    publishable_key: 'pk_test_...',
    webhook_secrets: ['whsec_...']
  })
})

test('the start fails without the signing secret that docs/stripe.md names', () => {
  expect(() => loadConfig(standardModules, environment('WEBHOOK_SECRETS'), {})).toThrow(
    'payments.stripe.webhook_secrets: must hold the signing secret'
  )
})
