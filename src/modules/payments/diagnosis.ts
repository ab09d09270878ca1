import { type DiagnosisCheck, okDiagnosisFinding, warningDiagnosisFinding } from '../../kernel/diagnosis.ts'
import { LOWEST_ID } from '../../kernel/ids.ts'
import type { Config } from '../../platform/core-settings.ts'
import type { Queryable } from '../../platform/postgres/database.ts'
import { countProviderEventsInState, listProviderEvents } from './provider-events/repository.ts'
import { listManualPaymentMethods } from './providers/manual.ts'
import type { PaymentProviderRegistry } from './providers/registry.ts'
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

/** Checks that Stripe's key is a live key, and that bank transfer has account details. */
export const diagnosePaymentSettings = (
  settings: PaymentsSettings,
  { config: { environment } }: { config: Pick<Config, 'environment'> }
): readonly DiagnosisCheck[] => [
  { about: 'payments', find: () => diagnoseProviders(settings, environment === 'production') }
]

function diagnoseProviders(
  { stripe, manual_methods, bank_transfer }: PaymentsSettings,
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
  if (manual.length < manual_methods.length)
    return warningDiagnosisFinding(
      'bank transfer is not offered, because payments.bank_transfer has no account details',
      'Set payments.bank_transfer, or take bank_transfer out of payments.manual_methods.'
    )
  return okDiagnosisFinding('the settings of the built-in providers are complete')
}

/** Checks that customers can choose a payment method. Modules provide methods, so this needs the set-up of all of them. */
export const diagnosePaymentMethods = (providers: PaymentProviderRegistry): readonly DiagnosisCheck[] => [
  {
    about: 'payment methods',
    find() {
      const offered = providers.offered().map(name => `${name} (${providers.methodsOf(name).join(', ')})`)
      if (offered.length > 0) return okDiagnosisFinding(offered.join(', '))
      return warningDiagnosisFinding(
        'none is offered, so no order can be paid',
        'Set payments.bank_transfer or payments.stripe.secret_key, or enable a module that provides payments.provider.'
      )
    }
  }
]
