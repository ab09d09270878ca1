import { type DiagnosisCheck, okDiagnosisFinding, warningDiagnosisFinding } from '../../kernel/diagnosis.ts'
import { LOWEST_ID } from '../../kernel/ids.ts'
import type { Config } from '../../platform/core-settings.ts'
import type { Queryable } from '../../platform/postgres/database.ts'
import { countProviderEventsInState, listProviderEvents } from './provider-events/repository.ts'
import { listManualPaymentMethods } from './providers/manual.ts'
import type { PaymentsSettings } from './settings.ts'

/** Finds provider events in quarantine: they contradict the stored payment and changed nothing. */
export const diagnoseQuarantinedPaymentEvents = (db: Queryable): readonly DiagnosisCheck[] => [
  {
    about: 'payment events',
    async find() {
      const [oldest] = await db.rows(listProviderEvents, { state: 'quarantined', after: LOWEST_ID, limit: 1 })
      if (oldest === undefined) return okDiagnosisFinding('none is quarantined')
      const { total = 0 } = (await db.first(countProviderEventsInState, { state: 'quarantined' })) ?? {}
      return warningDiagnosisFinding(
        `${total} quarantined, the oldest from ${oldest.provider} (${oldest.type}): ${oldest.reason}`,
        'Each can be a payment that its order does not show. List them with GET /api/admin/payments/events, then retry or discard them.'
      )
    }
  }
]

/** Checks that the shop offers a payment method, and that Stripe's key is a live key. */
export const diagnosePaymentSettings = (
  settings: PaymentsSettings,
  { config: { environment } }: { config: Pick<Config, 'environment'> }
): readonly DiagnosisCheck[] => [
  { about: 'payments', find: () => diagnoseProviders(settings, environment === 'production') }
]

function diagnoseProviders(
  { stripe, sandbox, manual_methods, bank_transfer }: PaymentsSettings,
  isProduction: boolean
) {
  if (isProduction && stripe.secret_key.startsWith('sk_test_'))
    return warningDiagnosisFinding(
      'the Stripe key is a test key: no money is moved',
      'Use the live key, sk_live_...'
    )
  const manual = listManualPaymentMethods({
    methods: manual_methods,
    bankTransfer: bank_transfer,
    isProduction
  })
  if (manual.length < manual_methods.length && (manual.length > 0 || stripe.secret_key !== ''))
    return warningDiagnosisFinding(
      'bank transfer is not offered, because payments.bank_transfer has no account details',
      'Set payments.bank_transfer, or take bank_transfer out of payments.manual_methods.'
    )
  if (manual.length < manual_methods.length)
    return warningDiagnosisFinding(
      'no payment method is offered: payments.bank_transfer has no account details, and Stripe has no key',
      'Set payments.bank_transfer or payments.stripe.secret_key.'
    )
  const offered = [
    stripe.secret_key !== '' && 'Stripe',
    !isProduction && sandbox.mode !== 'off' && 'the sandbox',
    'manual'
  ]
  return okDiagnosisFinding(offered.filter(Boolean).join(', '))
}
