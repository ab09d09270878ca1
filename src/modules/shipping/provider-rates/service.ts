import { hash } from 'node:crypto'
import type { DeliveryDestination } from '../../../kernel/areas.ts'
import { normalizePostalCode } from '../../../kernel/countries.ts'
import type { PortProvider } from '../../../kernel/ports.ts'
import {
  createProviderCaller,
  createProviderRequestLimit,
  PROVIDER_CALL_OUTCOMES
} from '../../../kernel/provider-caller.ts'
import { findRegionCode } from '../../../kernel/regions.ts'
import type { OpenRequestBudget } from '../../../kernel/shared-request-budgets.ts'
import type { Config } from '../../../platform/core-settings.ts'
import type { WaitingRequest } from '../../../platform/idempotency/write.ts'
import type { Log } from '../../../platform/log.ts'
import type { Metrics } from '../../../platform/metrics/registry.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { ShippingOption, ShippingParcel } from '../rules/options.ts'
import { findProviderRatesFault, optionOfProviderRate } from './options.ts'
import type { ParcelToRate, ProviderRate, ShippingRateProvider } from './port.ts'
import * as repository from './repository.ts'

const DELETED_AT_ONCE = 1_000

type Deps = {
  config: Pick<Config, 'rate_limit'>
  openBudget: OpenRequestBudget
  db: Database
  log: Log
  metrics: Metrics
  /** The providers of the port. Empty: the shop has its own rates only. */
  providers: () => readonly PortProvider<ShippingRateProvider>[]
  timeoutMs: number
  /** Seconds for which rates of a parcel stay the same. */
  keptSeconds: number
}
type Answer = { readonly provider: string; readonly rates: readonly ProviderRate[] }
/**
 * Returns the options of all providers for a parcel. `request` waits for them. Call it outside of a transaction.
 * @throws `PROVIDER_REQUESTS_LIMITED`
 */
export type FetchProviderOptions = (
  parcel: ShippingParcel,
  request: WaitingRequest
) => Promise<readonly ShippingOption[]>

/**
 * Asks providers for the rates of parcels. Rates are stored for some minutes, so that every process calculates the same price
 * for the same parcel. A provider that fails has no options.
 */
export function createProviderRateService({
  config,
  openBudget,
  db,
  log,
  metrics,
  providers,
  timeoutMs,
  keptSeconds
}: Deps) {
  const limitRequests = createProviderRequestLimit(openBudget, 'shipping.rates', config.rate_limit)
  const callers = new Map<string, ReturnType<typeof createProviderCaller<readonly ProviderRate[]>>>()
  const requests = metrics.counter('rate_requests', 'Requests for rates to providers, by outcome.', {
    outcome: PROVIDER_CALL_OUTCOMES
  })

  function callerOf(provider: string) {
    const caller =
      callers.get(provider) ??
      createProviderCaller<readonly ProviderRate[]>({
        timeoutMs,
        count: outcome => requests.add({ outcome }),
        warn: reason =>
          log.warn(
            { provider, ...reason },
            'no valid shipping rates: the options of the provider are omitted'
          )
      })
    callers.set(provider, caller)
    return caller
  }

  /** Returns `undefined` when the provider fails, or is skipped because it failed before. */
  async function ask(
    { name, provider }: PortProvider<ShippingRateProvider>,
    parcel: ParcelToRate,
    key: Buffer
  ): Promise<Answer | undefined> {
    const rates = await callerOf(name)(
      key.toString('hex'),
      async signal => provider.listRates(parcel, signal),
      findProviderRatesFault
    )
    return rates && { provider: name, rates }
  }

  async function readAnswers(
    parcel: ParcelToRate,
    all: readonly PortProvider<ShippingRateProvider>[],
    { withoutSlot, clientNetwork }: WaitingRequest
  ): Promise<readonly Answer[]> {
    const key = hashOfParcel(parcel)
    const stored = await db.rows(repository.findProviderRates, { parcel: key })
    const missing = all.filter(({ name }) => !stored.some(({ provider }) => provider === name))
    if (missing.length === 0) return stored
    await limitRequests(clientNetwork)
    const answers = await withoutSlot(() => Promise.all(missing.map(provider => ask(provider, parcel, key))))
    const rows = answers.filter(answer => answer !== undefined)
    if (rows.length === 0) return stored
    await db.run(repository.storeProviderRates, { parcel: key, rows, seconds: keptSeconds })
    // Another process may have stored its answers first. Then they are the rates of this parcel.
    return db.rows(repository.findProviderRates, { parcel: key })
  }

  const fetch: FetchProviderOptions = async (parcel, request) => {
    const { destination, requiresShipping, ...measures } = parcel
    if (destination === null || !requiresShipping) return []
    const all = providers()
    const answers = await readAnswers(
      { destination: normalizedDestination(destination), ...measures },
      all,
      request
    )
    return answers
      .filter(({ provider }) => all.some(({ name }) => name === provider))
      .flatMap(({ provider, rates }) =>
        rates.map(rate => optionOfProviderRate(provider, rate, parcel.currency))
      )
  }

  return {
    /** `undefined` without providers, so that a shop with its own rates only waits for nothing. */
    fetcher: (): FetchProviderOptions | undefined => (providers().length === 0 ? undefined : fetch),
    /** Returns how many rows it deleted. */
    deleteExpired: async (): Promise<number> =>
      providers().length === 0 ? 0 : db.run(repository.deleteExpiredProviderRates, { limit: DELETED_AT_ONCE })
  }
}

/** Equal destinations are one parcel, however the buyer typed them. */
const normalizedDestination = ({
  country,
  region,
  postalCode
}: DeliveryDestination): DeliveryDestination => ({
  country,
  region: region === undefined ? undefined : (findRegionCode(country, region) ?? region),
  postalCode: postalCode === undefined ? undefined : normalizePostalCode(country, postalCode)
})

function hashOfParcel({ destination, weightGrams, valueMinor, items, currency }: ParcelToRate): Buffer {
  const { country, region = '', postalCode = '' } = destination
  const content = [country, region, postalCode, weightGrams, valueMinor, items, currency]
  return hash('sha256', JSON.stringify(content), 'buffer')
}
