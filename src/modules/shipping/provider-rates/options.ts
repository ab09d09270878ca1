import { compileSchema } from '../../../kernel/compile-schema.ts'
import { fieldFaults } from '../../../kernel/faults.ts'
import { derivedId } from '../../../kernel/ids.ts'
import { AMOUNT_MAX } from '../../../kernel/money.ts'
import { Type } from '../../../kernel/schema.ts'
import { input, line, nullable, TaxCategory } from '../../../kernel/wire.ts'
import type { ShippingOption } from '../rules/options.ts'
import type { ProviderRate } from './port.ts'

/** Namespace of the ids of options of providers. */
const OPTION_NAMESPACE = '6f1d4b0e-3c52-4f6a-9d0b-5a1e7c2f8b94'
/** Most options of one provider: a buyer reads a list of them. */
const RATES_MAX = 50
const DAYS_MAX = 365

const Days = Type.Integer({ minimum: 0, maximum: DAYS_MAX })
const Rates = Type.Array(
  input({
    service: line(100),
    name: line(255),
    carrier: line(255),
    amountMinor: Type.Integer({ minimum: 0, maximum: AMOUNT_MAX }),
    estimatedDays: nullable(input({ min: Days, max: Days })),
    taxCategory: nullable(TaxCategory)
  }),
  { maxItems: RATES_MAX }
)
const errorsOf = compileSchema(Rates)

/** Returns why the result of a provider is invalid, as a sentence; `undefined` when it is valid. */
export function findProviderRatesFault(rates: unknown): string | undefined {
  const [fault] = fieldFaults('rates', errorsOf(rates))
  if (fault !== undefined) return `${fault.path} ${fault.message}`
  const valid = rates as readonly ProviderRate[]
  if (new Set(valid.map(({ service }) => service)).size < valid.length)
    return 'two rates have the same service'
  const isReversed = valid.some(({ estimatedDays }) => estimatedDays && estimatedDays.min > estimatedDays.max)
  return isReversed ? 'estimatedDays.max is less than min' : undefined
}

/** The option of a rate. Its id identifies provider and service, so it stays when the price changes. */
export function optionOfProviderRate(
  provider: string,
  { service, name, carrier, amountMinor, estimatedDays, taxCategory }: ProviderRate,
  currency: string
): ShippingOption {
  const id = derivedId(OPTION_NAMESPACE, JSON.stringify([provider, service]))
  return {
    id,
    methodId: id,
    method: 'shipping',
    provider: carrier,
    service: name,
    amountMinor,
    currency,
    estimatedDays,
    taxCategory
  }
}
