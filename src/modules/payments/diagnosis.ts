import type { Config } from '../../config.ts'
import { type Diagnosis, ok, warning, wrong } from '../../kernel/diagnosis.ts'
import { FIRST_ID } from '../../kernel/ids.ts'
import type { SettingsOf } from '../../kernel/settings.ts'
import type { Queryable } from '../../platform/postgres/database.ts'
import { countEventsOf, listEvents } from './callbacks/repository.ts'
import { offeredMethods } from './providers/manual.ts'
import type { paymentsSettings } from './settings.ts'

/** Finds events of providers that changed nothing because they do not fit. */
export const diagnoseEvents = (db: Queryable): readonly Diagnosis[] => [
  {
    about: 'payment events',
    async find() {
      const [oldest] = await db.rows(listEvents, { state: 'quarantined', after: FIRST_ID, limit: 1 })
      if (oldest === undefined) return ok('none is quarantined')
      const { total = 0 } = (await db.first(countEventsOf, { state: 'quarantined' })) ?? {}
      return warning(
        `${total} quarantined, the oldest from ${oldest.provider} (${oldest.type}): ${oldest.reason}`,
        'Each may be a payment that an order does not show. See GET /api/admin/payments/events; retry or discard them.'
      )
    }
  }
]

/** Whether money can be taken, and is real. */
export const diagnosePayments = (
  settings: SettingsOf<typeof paymentsSettings>,
  { config: { environment } }: { config: Pick<Config, 'environment'> }
): readonly Diagnosis[] => [{ about: 'payments', find: () => judge(settings, environment === 'production') }]

function judge(
  { stripe, sandbox, default_provider, manual_methods, bank_transfer }: SettingsOf<typeof paymentsSettings>,
  isProduction: boolean
) {
  if (isProduction && sandbox.mode === 'on')
    return wrong(
      'the sandbox takes no money, so production refuses it and does not start',
      'Set payments.sandbox.mode: off, or leave it out.'
    )
  if (default_provider === 'stripe' && stripe.secret_key === '')
    return wrong(
      'Stripe is the usual provider, and has no key',
      'Set CARTWRIGHT__PAYMENTS__STRIPE__SECRET_KEY, or another payments.default_provider.'
    )
  if (stripe.secret_key !== '' && stripe.webhook_secrets.length === 0)
    return warning(
      'callbacks of Stripe cannot be verified, and are refused',
      'Set payments.stripe.webhook_secrets to the signing secret of the endpoint, whsec_...'
    )
  if (isProduction && stripe.secret_key.startsWith('sk_test_'))
    return warning('the key of Stripe is one for tests: no money is taken', 'Use the live key, sk_live_...')
  const manual = offeredMethods({ methods: manual_methods, bankTransfer: bank_transfer, isProduction })
  if (manual.length < manual_methods.length && (manual.length > 0 || stripe.secret_key !== ''))
    return warning(
      'bank transfer is not offered, because payments.bank_transfer has no account details',
      'Set payments.bank_transfer, or take bank_transfer out of payments.manual_methods.'
    )
  if (manual.length < manual_methods.length)
    return warning(
      'no payment method is offered: payments.bank_transfer has no account details, and Stripe has no key',
      'Set payments.bank_transfer or payments.stripe.secret_key.'
    )
  const offered = [
    stripe.secret_key !== '' && 'Stripe',
    !isProduction && sandbox.mode !== 'off' && 'the sandbox',
    'manual'
  ]
  return ok(offered.filter(Boolean).join(', '))
}
