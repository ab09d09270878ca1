import { expect, test } from 'vitest'
import type { OrderAdjustmentService } from '../../src/modules/orders/adjustments/service.ts'
import { createDice, type Dice } from '../chaos/dice.ts'
import { BrokenPromise, type ModelOrder, type RefundStep, refundModelOf } from './refund-model.ts'

const HISTORIES = Number(process.env.HISTORIES ?? 1_500)

const KINDS = [
  ...['pay', 'pay', 'pay', 'pay', 'authorize', 'ship', 'ship', 'capture late'],
  ...['cancel line', 'cancel line', 'refund line', 'refund line', 'refund amount', 'refund amount'],
  ...['lose responses', 'report refunds', 'respond']
] as const

function historyOf(seed: number): { order: ModelOrder; steps: RefundStep[] } {
  const dice = createDice(seed)
  const lines = Array.from({ length: 1 + dice.below(3) }, () => ({
    quantity: 1 + dice.below(3),
    unitMinor: dice.below(2_000)
  }))
  const tendersMinor = dice.chance(0.5)
    ? []
    : Array.from({ length: 1 + dice.below(3) }, () => dice.below(4_000))
  const order = {
    lines,
    deliveryMinor: dice.of([0, 490]),
    roundingMinor: dice.of([0, 0, 2]),
    tendersMinor
  }
  return { order, steps: Array.from({ length: 3 + dice.below(12) }, () => stepOf(dice, lines.length)) }
}

function stepOf(dice: Dice, lines: number): RefundStep {
  // Most histories go on after a cancellation, so that it comes late.
  const kind = dice.chance(0.04) ? dice.of(['cancel', 'expire'] as const) : dice.of(KINDS)
  switch (kind) {
    case 'pay':
      return { do: kind, share: dice.chance(0.5) ? 1 : dice.below(100) / 100 }
    case 'capture late':
    case 'refund amount':
      return { do: kind, share: dice.below(100) / 100 }
    case 'cancel line':
    case 'refund line':
      return { do: kind, line: 1 + dice.below(lines) }
    default:
      return { do: kind as 'cancel' }
  }
}

type Change = Parameters<typeof refundModelOf>[1]

/** Returns the first history that breaks a promise, as text. `count` gets the outcome of each step and history. */
async function findBrokenPromise(
  histories: number,
  change?: Change,
  count: (what: string) => void = () => {}
): Promise<string | undefined> {
  for (let seed = 1; seed <= histories; seed += 1) {
    const { order, steps } = historyOf(seed)
    try {
      const model = await refundModelOf(order, change)
      for (const step of steps) count(`${step.do}: ${(await model.take(step)) ?? 'done'}`)
      count(`an order that ends ${await model.settle()}`)
    } catch (error) {
      if (!(error instanceof BrokenPromise)) throw new Error(`history ${seed}`, { cause: error })
      return `history ${seed}: ${error.message}\n${JSON.stringify({ order, steps })}`
    }
  }
  return undefined
}

test(`what is kept is the price over ${HISTORIES} histories of payments, credits and refunds`, {
  timeout: 3_600_000
}, async () => {
  const counts = new Map<string, number>()
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1)
  expect(await findBrokenPromise(HISTORIES, undefined, count)).toBeUndefined()
  if (process.env.HISTORIES !== undefined) console.table(Object.fromEntries([...counts].sort()))
  const ends = ['canceled', 'paid', 'unpaid'].map(end => counts.get(`an order that ends ${end}`) ?? 0)
  expect(Math.min(...ends)).toBeGreaterThan(HISTORIES / 20)
  for (const kind of [...KINDS, 'cancel', 'expire'])
    expect(counts.get(`${kind}: done`), kind).toBeGreaterThan(HISTORIES / 20)
})

test('orders that tenders cover in part and whole occur, and so do refunds of them', async () => {
  let [inPart, whole, refunded] = [0, 0, 0]
  for (let seed = 1; seed <= 300; seed += 1) {
    const { order, steps } = historyOf(seed)
    const model = await refundModelOf(order)
    for (const step of steps) await model.take(step)
    const { tendered, returned } = model.tenders()
    if (tendered > 0) {
      if (tendered < model.total) inPart += 1
      else whole += 1
    }
    if (returned > 0) refunded += 1
  }
  expect(Math.min(inPart, whole, refunded)).toBeGreaterThan(10)
})

const FAULTS: Record<string, (service: OrderAdjustmentService) => Partial<OrderAdjustmentService>> = {
  'a late payment is kept': () => ({ refundAmountDue: async () => undefined }),
  'a refund counts twice against a late payment': ({ refundAmountDue }) => ({
    refundAmountDue: async (tx, locked, change) =>
      locked.lifecycle.state !== 'canceled' &&
      change.captured - change.refunded - change.refunding <= change.due
        ? undefined
        : refundAmountDue(tx, locked, change)
  }),
  'a credit refunds nothing': ({ giveCredit }) => ({
    giveCredit: async (tx, { account: _, ...locked }, ...credit) =>
      giveCredit(tx, { ...locked, account: undefined }, ...credit)
  }),
  'a late capture of a canceled order is kept': ({ refundAmountDue }) => ({
    refundAmountDue: async (tx, locked, change) =>
      locked.lifecycle.state === 'canceled' && change.refunded > 0
        ? undefined
        : refundAmountDue(tx, locked, change)
  })
}

test.each(Object.entries(FAULTS))('the histories detect a fault: %s', async (_, fault) => {
  expect(await findBrokenPromise(1_000, fault)).toBeDefined()
})
