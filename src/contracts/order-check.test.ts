import { expect, test } from 'vitest'
import { brokenCases } from '../../test/support/broken-cases.ts'
import { failingService } from '../../test/support/failing-service.ts'
import type { OrderCheck, PurchaseToCheck } from '../modules/orders/index.ts'
import { orderCheckContract } from './order-check.ts'

const ALLOWED: PurchaseToCheck = {
  buyer: { customerId: null, email: 'ada@example.com' },
  lines: [
    {
      id: '0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d8e',
      variantId: '0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d8f',
      productId: '0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d90',
      sku: 'KNIFE-1',
      quantity: 2,
      metadata: {},
      totalMinor: 2_000
    }
  ],
  shippingAddress: {
    name: 'Ada',
    line1: 'Drottninggatan 1',
    city: 'Stockholm',
    postal_code: '111 51',
    country: 'SE'
  },
  billingAddress: null,
  metadata: { age_confirmed: 'yes' },
  market: 'default',
  currency: 'EUR',
  totals: {
    subtotalMinor: 2_000,
    discountMinor: 0,
    shippingMinor: 0,
    taxMinor: 0,
    taxAddedMinor: 0,
    cashRoundingMinor: 0,
    totalMinor: 2_000
  },
  quoteHash: 'a'.repeat(64)
}
const ABROAD: PurchaseToCheck = { ...ALLOWED, shippingAddress: { name: 'Ada', country: 'GB' } }
const YOUNG: PurchaseToCheck = { ...ALLOWED, metadata: {} }

/** The cases of the contract for a check of knives, with a check that replaces it. */
function casesOf(change: (check: OrderCheck) => OrderCheck = check => check) {
  const service = failingService()
  const check: OrderCheck = ({ lines: [line], shippingAddress, metadata }, signal) =>
    service.request(
      () => [
        ...(metadata.age_confirmed === 'yes'
          ? []
          : [{ code: 'AGE_MISSING', message: 'Confirm that you are an adult.' }]),
        ...(shippingAddress?.country === 'GB'
          ? [
              {
                code: 'KNIFE_NOT_SHIPPED',
                message: 'Knives are not shipped to this country. Remove them.',
                ...(line && { line: line.id })
              }
            ]
          : [])
      ],
      signal
    )
  return orderCheckContract({
    check: change(check),
    allowed: ALLOWED,
    refused: { AGE_MISSING: YOUNG, KNIFE_NOT_SHIPPED: ABROAD },
    service
  })
}

for (const { name, run } of casesOf()) test(`a check in memory: ${name}`, run)

test.each<[string, (check: OrderCheck) => OrderCheck, RegExp]>([
  [
    'refuses everything',
    () => async () => [{ code: 'AGE_MISSING', message: 'Confirm that you are an adult.' }],
    /an allowed purchase has no refusal/
  ],
  ['refuses nothing', () => async () => [], /each declared code refuses a purchase/],
  [
    'returns a code that it does not declare',
    check => async (purchase, signal) =>
      (await check(purchase, signal)).map(refusal => ({ ...refusal, code: 'OTHER' })),
    /each declared code refuses a purchase/
  ],
  [
    'has no message for the buyer',
    check => async (purchase, signal) =>
      (await check(purchase, signal)).map(refusal => ({ ...refusal, message: ' ' })),
    /with a message for the buyer/
  ],
  [
    'needs an address',
    check => async (purchase, signal) => {
      if (purchase.shippingAddress === null) throw new Error('no address')
      return check(purchase, signal)
    },
    /has not filled in/
  ],
  [
    'changes the purchase',
    check => async (purchase, signal) => {
      const refusals = await check(purchase, signal)
      Object.assign(purchase.metadata, { checked: String(refusals.length) })
      return refusals
    },
    /is not changed/
  ],
  [
    'returns the refusals of another purchase',
    check => {
      let pending: ReturnType<OrderCheck> | undefined
      return (purchase, signal) => {
        pending ??= check(purchase, signal).finally(() => {
          pending = undefined
        })
        return pending
      }
    },
    /simultaneous purchases get their own refusals/
  ],
  [
    'allows purchases while the service fails',
    check => (purchase, signal) => check(purchase, signal).catch(() => []),
    /a service that fails rejects the call/
  ],
  [
    'ignores the signal',
    check => purchase => check(purchase, new AbortController().signal),
    /an aborted signal/
  ]
])('the contract of checks finds a check that %s', async (_, change, name) => {
  expect(await brokenCases(() => casesOf(change))).toContainEqual(expect.stringMatching(name))
})
