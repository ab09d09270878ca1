import assert from 'node:assert/strict'
import { findRefusalFault, type OrderCheck, type PurchaseToCheck } from '../modules/orders/index.ts'
import {
  assertEndsWhenAborted,
  assertRejectsFailures,
  callWithCopy,
  type ExternalServiceControls
} from './external-service.ts'
import type { ContractCase } from './tender.ts'

/**
 * An order check under test, with purchases whose outcome is known.
 * @example
 * const codesOf = ({ refused }: OrderCheckContractSubject): string[] => Object.keys(refused)
 */
export type OrderCheckContractSubject = {
  readonly check: OrderCheck
  /** A purchase that becomes an order. */
  readonly allowed: PurchaseToCheck
  /** For each code that the check can return, a purchase that it refuses with this code. */
  readonly refused: Readonly<Record<string, PurchaseToCheck>>
  /** Absent: the check calls no service, or allows purchases while the service fails. */
  readonly service?: ExternalServiceControls
}

/**
 * The contract of `orders.before_place`, for the tests of a check. Run each case as a test.
 * @example
 * const register = (
 *   subject: OrderCheckContractSubject,
 *   test: (name: string, run: () => Promise<void>) => void
 * ) => {
 *   for (const { name, run } of orderCheckContract(subject)) test(name, run)
 * }
 * assert.equal(register.length, 2)
 */
export function orderCheckContract({
  check,
  allowed,
  refused,
  service
}: OrderCheckContractSubject): readonly ContractCase[] {
  const callCheck: OrderCheck = async (purchase, signal) => check(purchase, signal)
  /** Returns the codes of the refusals, and asserts that the check declares them. */
  const codesOf = async (purchase: PurchaseToCheck): Promise<string[]> => {
    const refusals = await callWithCopy(purchase, callCheck)
    assert.equal(findRefusalFault(refusals, purchase), undefined)
    const codes = refusals.map(({ code }) => code)
    assert.deepEqual(
      codes.filter(code => !Object.hasOwn(refused, code)),
      [],
      'the check returns codes that it does not declare'
    )
    return codes
  }

  return [
    {
      name: 'an allowed purchase has no refusal',
      run: async () => assert.deepEqual(await codesOf(allowed), [])
    },
    {
      name: 'each declared code refuses a purchase, with a message for the buyer',
      run: async () => {
        assert.ok(Object.keys(refused).length > 0, 'the check declares no code')
        for (const [code, purchase] of Object.entries(refused))
          assert.ok((await codesOf(purchase)).includes(code), `no refusal has the code ${code}`)
      }
    },
    {
      name: 'a checkout that the buyer has not filled in is no error',
      run: async () => {
        const nothing = {
          buyer: { customerId: null, email: null },
          shippingAddress: null,
          billingAddress: null,
          metadata: {}
        }
        for (const purchase of [allowed, ...Object.values(refused)]) {
          await codesOf({ ...purchase, ...nothing })
          await codesOf({ ...purchase, ...nothing, lines: [] })
          const { country } = purchase.shippingAddress ?? { country: 'SE' }
          await codesOf({ ...purchase, shippingAddress: { country }, billingAddress: { country } })
        }
      }
    },
    {
      name: 'the same purchase always has the same refusals, and is not changed',
      run: async () => {
        for (const purchase of [allowed, ...Object.values(refused)]) {
          const codes = await codesOf(purchase)
          assert.deepEqual(await codesOf(purchase), codes)
        }
      }
    },
    {
      name: 'simultaneous purchases get their own refusals',
      run: async () => {
        const purchases = [...Object.values(refused), allowed, ...Object.values(refused), allowed]
        const expected = await Promise.all(purchases.map(codesOf))
        const alone: string[][] = []
        for (const purchase of purchases) alone.push(await codesOf(purchase))
        assert.deepEqual(expected, alone)
      }
    },
    {
      name: 'a service that fails rejects the call, so that the purchase does not become an order, and the next call succeeds',
      run: async () => {
        if (service !== undefined) await assertRejectsFailures(service, signal => callCheck(allowed, signal))
      }
    },
    {
      name: 'an aborted signal ends a call while the service hangs',
      run: async () => {
        if (service === undefined) return
        await assertEndsWhenAborted(service, signal => callCheck(allowed, signal))
        assert.deepEqual(await codesOf(allowed), [])
      }
    }
  ]
}
