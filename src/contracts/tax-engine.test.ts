import { expect, test } from 'vitest'
import { brokenCases } from '../../test/support/broken-cases.ts'
import { failingService } from '../../test/support/failing-service.ts'
import { amountBeforeRatePpm, multiplyByRatePpm } from '../kernel/money.ts'
import type { TaxEngine } from '../modules/pricing/index.ts'
import { taxEngineContract } from './tax-engine.ts'

const PPM = 190_000

type ComputeTaxes = TaxEngine['computeTaxes']
/** The cases of the contract for an engine that takes 19 %, with a function that replaces its own. */
function casesOf(change: (computeTaxes: ComputeTaxes) => ComputeTaxes = computeTaxes => computeTaxes) {
  const service = failingService()
  const computeTaxes: ComputeTaxes = ({ components, pricesIncludeTax }, signal) =>
    service.request(
      () =>
        components.map(({ amountMinor }) => ({
          ratePpm: PPM,
          taxMinor: pricesIncludeTax
            ? amountMinor - amountBeforeRatePpm(amountMinor, PPM)
            : multiplyByRatePpm(amountMinor, PPM)
        })),
      signal
    )
  return taxEngineContract({
    engine: { computeTaxes: change(computeTaxes) },
    currency: 'EUR',
    destination: { country: 'DE', region: null, postalCode: '10115' },
    service
  })
}

for (const { name, run } of casesOf()) test(`a tax engine in memory: ${name}`, run)

test.each<[string, (computeTaxes: ComputeTaxes) => ComputeTaxes, RegExp]>([
  [
    'returns the taxes in another order',
    compute => async (request, signal) => (await compute(request, signal)).toReversed(),
    /in the order of the components/
  ],
  [
    'leaves out components without an amount',
    compute => (request, signal) =>
      compute({ ...request, components: request.components.filter(each => each.amountMinor > 0) }, signal),
    /each component has a tax/
  ],
  [
    'adds tax to prices that include it',
    compute => (request, signal) => compute({ ...request, pricesIncludeTax: false }, signal),
    /prices that include tax/
  ],
  [
    'computes in major units with a fraction',
    compute => async (request, signal) =>
      (await compute(request, signal)).map(tax => ({ ...tax, taxMinor: tax.taxMinor / 100 })),
    /in whole minor units/
  ],
  [
    'changes the rate from call to call',
    compute => {
      let calls = 0
      return async (request, signal) => {
        calls += 1
        const taxes = await compute(request, signal)
        return calls % 2 === 0 ? taxes : taxes.map(() => ({ ratePpm: 0, taxMinor: 0 }))
      }
    },
    /always has the same taxes/
  ],
  [
    'needs a postal code',
    compute => async (request, signal) => {
      if (request.components.some(({ destination }) => destination?.postalCode === null))
        throw new Error('no postal code')
      return compute(request, signal)
    },
    /an incomplete place/
  ],
  [
    'returns the taxes of another basket',
    compute => {
      let pending: ReturnType<ComputeTaxes> | undefined
      return (request, signal) => {
        pending ??= compute(request, signal).finally(() => {
          pending = undefined
        })
        return pending
      }
    },
    /simultaneous baskets get their own taxes/
  ],
  [
    'takes no tax while the service fails',
    compute => (request, signal) =>
      compute(request, signal).catch(() => request.components.map(() => ({ ratePpm: 0, taxMinor: 0 }))),
    /a service that fails rejects the call/
  ],
  [
    'ignores the signal',
    compute => request => compute(request, new AbortController().signal),
    /an aborted signal/
  ]
])('the contract of tax engines finds an engine that %s', async (_, change, name) => {
  expect(await brokenCases(() => casesOf(change))).toContainEqual(expect.stringMatching(name))
})
