import assert from 'node:assert/strict'
import { newId } from '../kernel/ids.ts'
import {
  type ComponentTax,
  findTaxAnswerFault,
  type TaxableComponent,
  type TaxEngine,
  type TaxRequest
} from '../modules/pricing/index.ts'
import {
  assertEndsWhenAborted,
  assertRejectsFailures,
  callWithCopy,
  type ExternalServiceControls
} from './external-service.ts'
import type { ContractCase } from './tender.ts'

/**
 * A tax engine under test, with what a test needs to know and control of the service behind it.
 * @example
 * const berlin = { country: 'DE', region: null, postalCode: '10115' }
 * type Subject = TaxEngineContractSubject
 * const subjectOf = (engine: TaxEngine): Subject => ({ engine, currency: 'EUR', destination: berlin })
 */
export type TaxEngineContractSubject = {
  readonly engine: TaxEngine
  readonly currency: string
  /** A place where standard goods are taxed. */
  readonly destination: NonNullable<TaxableComponent['destination']>
  /** Absent: the engine calls no service. */
  readonly service?: ExternalServiceControls
}

/**
 * The contract of `pricing.tax`, for the tests of an engine. Run each case as a test.
 * @example
 * const register = (
 *   subject: TaxEngineContractSubject,
 *   test: (name: string, run: () => Promise<void>) => void
 * ) => {
 *   for (const { name, run } of taxEngineContract(subject)) test(name, run)
 * }
 * assert.equal(register.length, 2)
 */
export function taxEngineContract({
  engine,
  currency,
  destination,
  service
}: TaxEngineContractSubject): readonly ContractCase[] {
  const computeTaxes: TaxEngine['computeTaxes'] = async (request, signal) =>
    engine.computeTaxes(request, signal)
  const goods = (amountMinor: number, fields: Partial<TaxableComponent> = {}): TaxableComponent => ({
    variantId: newId(),
    productId: newId(),
    taxCategory: 'standard',
    quantity: 1,
    amountMinor,
    destination,
    ...fields
  })
  const DELIVERY = { variantId: null, productId: null }
  const basketOf = (components: readonly TaxableComponent[], pricesIncludeTax = false): TaxRequest => ({
    market: 'default',
    currency,
    pricesIncludeTax,
    components
  })
  const taxesOf = async (request: TaxRequest): Promise<readonly ComponentTax[]> => {
    const taxes = await callWithCopy(request, computeTaxes)
    assert.equal(findTaxAnswerFault(taxes, request), undefined)
    return taxes
  }
  const BASKET = basketOf([goods(10_000), goods(0), goods(333, { quantity: 3 }), goods(490, DELIVERY)])

  return [
    {
      name: 'each component has a tax that its rate explains, in the order of the components',
      run: async () => {
        const [first] = await taxesOf(BASKET)
        assert.ok((first?.taxMinor ?? 0) > 0, 'standard goods are not taxed')
        await taxesOf(basketOf([...BASKET.components].toReversed()))
      }
    },
    {
      name: 'prices that include tax contain the tax of the same rate',
      run: async () => {
        const rateOf = ([tax]: readonly ComponentTax[]) => tax?.ratePpm
        const included = await taxesOf({ ...BASKET, pricesIncludeTax: true })
        assert.equal(rateOf(included), rateOf(await taxesOf(BASKET)))
      }
    },
    {
      name: 'amounts from one minor unit to billions, and many components, are taxed in whole minor units',
      run: async () => {
        const amounts = [1, 2, 3, 9_999, 123_457, 1_000_000_007]
        await taxesOf(basketOf(amounts.map(amount => goods(amount))))
        await taxesOf(
          basketOf(
            Array.from({ length: 200 }, (_, index) => goods(index * 7, { quantity: 7 })),
            true
          )
        )
      }
    },
    {
      name: 'the same basket always has the same taxes, and is not changed',
      run: async () => {
        const taxes = await taxesOf(BASKET)
        assert.deepEqual(await taxesOf(BASKET), taxes)
      }
    },
    {
      name: 'an incomplete place has valid taxes',
      run: async () => {
        // A buyer is still typing. Five rejected calls in a row would pause the engine for all buyers.
        const { country } = destination
        for (const postalCode of [null, '1'])
          await taxesOf(basketOf([goods(10_000, { destination: { country, region: null, postalCode } })]))
      }
    },
    {
      name: 'simultaneous baskets get their own taxes',
      run: async () => {
        const baskets = Array.from({ length: 6 }, (_, index) =>
          basketOf(Array.from({ length: index + 1 }, () => goods((index + 1) * 1_000)))
        )
        await Promise.all(baskets.map(taxesOf))
      }
    },
    {
      name: 'a service that fails rejects the call, because the tax rates of the shop apply then, and the next call succeeds',
      run: async () => {
        if (service !== undefined)
          await assertRejectsFailures(service, signal => computeTaxes(BASKET, signal))
      }
    },
    {
      name: 'an aborted signal ends a call while the service hangs',
      run: async () => {
        if (service === undefined) return
        await assertEndsWhenAborted(service, signal => computeTaxes(BASKET, signal))
        await taxesOf(BASKET)
      }
    }
  ]
}
