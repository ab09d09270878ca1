import type { Queryable } from '../../../platform/postgres/database.ts'
import type { PaymentProviderRegistry } from '../providers/registry.ts'
import type { PaymentsSettings } from '../settings.ts'
import { countUnsettledPaymentsOfOtherProviders } from './repository.ts'

type Deps = {
  db: Queryable
  providers: Pick<PaymentProviderRegistry, 'names'>
  settings: Pick<PaymentsSettings, 'default_provider' | 'retired_providers'>
}

/** Finds settings that name a provider that no module provides, and payments that no provider can settle. */
export async function findPaymentStartProblems({ db, providers, settings }: Deps): Promise<string[]> {
  const names = providers.names()
  const named = [
    ['default_provider', settings.default_provider],
    ...settings.retired_providers.map(name => ['retired_providers', name])
  ]
  const unsettled = await db.rows(countUnsettledPaymentsOfOtherProviders, { providers: names })
  return [
    ...named
      .filter(([, name = '']) => name !== 'auto' && !names.includes(name))
      .map(
        ([setting, name]) =>
          `payments.${setting} names the payment provider ${name}, which no enabled module provides: choose one of ${names.join(', ')}`
      ),
    ...unsettled.map(
      ({ provider, total }) =>
        `the payment provider ${provider} is gone, and ${total} of its payments are not settled: enable it again, and remove it when they are; payments.retired_providers: [${provider}] keeps it from taking new ones`
    )
  ]
}
