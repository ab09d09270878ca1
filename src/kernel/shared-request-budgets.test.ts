import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type BudgetClaim, createBudgetLedger, createSharedBudgets } from './shared-request-budgets.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Processes with a limit of 100 requests that they share, and the claims that they have exchanged. */
function useProcesses(count: number) {
  const decide = createBudgetLedger()
  const exchanges: (readonly BudgetClaim[])[] = []
  const open = () =>
    createSharedBudgets(async claims => {
      exchanges.push(claims)
      return decide(claims)
    })('x', 100)
  return { processes: Array.from({ length: count }, open), exchanges }
}
const reported = async () => {
  vi.advanceTimersByTime(1_000)
  await nextTurn()
}

test('a few requests of a caller are taken without another process, and reported together later', async () => {
  const { processes, exchanges } = useProcesses(1)
  const [budget] = processes
  for (let count = 0; count < 5; count += 1) expect(budget?.take('a')).toBe(0)
  expect(budget?.take('b')).toBe(0)
  expect(exchanges).toEqual([])
  await reported()
  const claim = { budget: 'x', perMinute: 100, wanted: 0 }
  expect(exchanges).toEqual([
    [
      { ...claim, caller: 'a', taken: 5 },
      { ...claim, caller: 'b', taken: 1 }
    ]
  ])
})

test('simultaneous requests in three processes exceed the limit by 5 % for each other process at most', async () => {
  const { processes } = useProcesses(3)
  const waits = await Promise.all(Array.from({ length: 300 }, (_, index) => processes[index % 3]?.take('a')))
  const taken = waits.filter(wait => wait === 0).length
  expect(taken).toBeGreaterThanOrEqual(100)
  expect(taken).toBeLessThanOrEqual(110)
})

test('a process that knows nothing of the others exceeds the limit by 5 % at most, which the others wait for', async () => {
  const { processes } = useProcesses(2)
  const [first, second] = processes
  const takeFrom = async (budget: typeof first, count: number) => {
    let taken = 0
    for (let tries = 0; tries < count; tries += 1) if ((await budget?.take('a')) === 0) taken += 1
    return taken
  }
  expect(await takeFrom(first, 150)).toBe(100)
  expect(await takeFrom(second, 150)).toBe(5)
  await reported()
  vi.advanceTimersByTime(2_000)
  // 100 requests a minute are 5 in 3 seconds: those that the second process took.
  expect(await takeFrom(first, 5)).toBe(0)
  vi.advanceTimersByTime(3_000)
  expect(await takeFrom(first, 5)).toBe(5)
})

test('requests that a process returns are left for the others', async () => {
  const { processes } = useProcesses(2)
  const [first, second] = processes
  expect(await first?.take('a', 100)).toBe(0)
  expect(await second?.take('a', 6)).toBeGreaterThan(0)
  expect(first?.take('a', -50)).toBe(0)
  await reported()
  vi.advanceTimersByTime(60_000)
  expect(await second?.take('a', 100)).toBe(0)
})

test('takeNow takes nothing when another process has to decide', async () => {
  const { processes } = useProcesses(1)
  const [budget] = processes
  expect(budget?.takeNow('a', 5)).toBe(0)
  expect(budget?.takeNow('a')).toBeUndefined()
  expect(await budget?.take('a', 95)).toBe(0)
  expect(budget?.takeNow('a')).toBeGreaterThan(0)
})

test.each([
  ['fails', () => Promise.reject(new Error('gone'))],
  ['hangs', () => new Promise<never>(() => {})]
])('a process decides by what it knows when the exchange %s', async (_how, exchange) => {
  const budget = createSharedBudgets(exchange)('x', 100)
  const taken = Array.from({ length: 150 }, () => budget.take('a'))
  await nextTurn()
  vi.advanceTimersByTime(250)
  const waits = await Promise.all(taken)
  expect(waits.filter(wait => wait === 0)).toHaveLength(100)
})
