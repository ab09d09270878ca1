import fc from 'fast-check'
import { expect, test } from 'vitest'
import { coverTotal, heldByTenders, paymentStatusWithTenders, splitRefund } from './allocation.ts'

const amount = (max = 5_000) => fc.integer({ min: 0, max })
const tenders = fc
  .array(fc.tuple(amount(), fc.double({ min: 0, max: 1, noNaN: true })), { maxLength: 10 })
  .map(list =>
    list.map(([amountMinor, share], at) => ({
      id: `tender ${at}`,
      amountMinor,
      refundedMinor: Math.floor(amountMinor * share)
    }))
  )
const named = fc.array(
  fc.record({
    available: amount(),
    amount: fc.option(fc.integer({ min: 1, max: 5_000 }), { nil: undefined })
  }),
  { maxLength: 10 }
)

test('tenders and the rest add up to the total, and no tender covers more than it can or was asked for', () =>
  fc.assert(
    fc.asyncProperty(amount(20_000), named, async (totalMinor, list) => {
      const { covers, dueMinor } = await coverTotal(
        totalMinor,
        list,
        async (tender, wantedMinor, position) => {
          expect(wantedMinor).toBeGreaterThan(0)
          expect(wantedMinor).toBeLessThanOrEqual(tender.amount ?? totalMinor)
          return { amountMinor: Math.min(tender.available, wantedMinor), position }
        }
      )
      const covered = covers.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
      expect(covered + dueMinor).toBe(totalMinor)
      expect(dueMinor).toBeGreaterThanOrEqual(0)
      for (const { amountMinor, position } of covers) {
        const { available = 0, amount: asked = totalMinor } = list[position] ?? {}
        expect(amountMinor).toBeLessThanOrEqual(Math.min(available, asked))
      }
      // Money is due only when no tender could have covered more.
      if (dueMinor > 0)
        for (const { available, amount: asked = Number.POSITIVE_INFINITY } of list)
          expect(covered).toBeGreaterThanOrEqual(Math.min(available, asked))
    })
  ))

test('the parts of a refund add up to it, payments come first, and no tender gets more than it gave', () =>
  fc.assert(
    fc.property(amount(20_000), amount(), tenders, (wanted, heldByPayments, list) => {
      const refundMinor = Math.min(wanted, heldByPayments + heldByTenders(list))
      const split = splitRefund(refundMinor, heldByPayments, list)
      expect(split.paymentsMinor).toBe(Math.min(refundMinor, heldByPayments))
      const toTenders = split.tenders.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
      expect(split.paymentsMinor + toTenders).toBe(refundMinor)
      for (const { id, amountMinor } of split.tenders) {
        const tender = list.find(each => each.id === id)
        expect(amountMinor).toBeGreaterThan(0)
        expect(amountMinor + (tender?.refundedMinor ?? 0)).toBeLessThanOrEqual(tender?.amountMinor ?? 0)
      }
    })
  ))

test('refunds in any number of steps give each tender back exactly what it gave', () =>
  fc.assert(
    fc.property(amount(), tenders, fc.array(amount(1_000)), (heldByPayments, list, steps) => {
      let state = { payments: heldByPayments, tenders: list }
      const refund = (wanted: number) => {
        const refundMinor = Math.min(wanted, state.payments + heldByTenders(state.tenders))
        const split = splitRefund(refundMinor, state.payments, state.tenders)
        state = {
          payments: state.payments - split.paymentsMinor,
          tenders: state.tenders.map(tender => ({
            ...tender,
            refundedMinor:
              tender.refundedMinor + (split.tenders.find(({ id }) => id === tender.id)?.amountMinor ?? 0)
          }))
        }
      }
      for (const wanted of [...steps, Number.MAX_SAFE_INTEGER]) refund(wanted)
      expect(state.payments).toBe(0)
      for (const { amountMinor, refundedMinor } of state.tenders) expect(refundedMinor).toBe(amountMinor)
    })
  ))

test('a refund of more than payments and tenders hold is a fault', () => {
  expect(() => splitRefund(11, 5, [{ id: 'one', amountMinor: 5, refundedMinor: 0 }])).toThrow('by 1')
})

test('the payment status counts tenders from the first refund on', () => {
  const tender = (refundedMinor: number) => [{ id: 'one', amountMinor: 500, refundedMinor }]
  const paid = { captured: 900, refunded: 0, refunding: 0 }
  const returned = { captured: 900, refunded: 900, refunding: 0 }
  expect(paymentStatusWithTenders('unpaid', { ...paid, captured: 0 }, tender(0))).toBe('unpaid')
  expect(paymentStatusWithTenders('paid', paid, tender(0))).toBe('paid')
  expect(paymentStatusWithTenders('paid', paid, tender(100))).toBe('partially_refunded')
  expect(paymentStatusWithTenders('refunded', returned, tender(0))).toBe('partially_refunded')
  expect(paymentStatusWithTenders('refunded', returned, tender(500))).toBe('refunded')
  expect(paymentStatusWithTenders('refunded', returned, [])).toBe('refunded')
})
