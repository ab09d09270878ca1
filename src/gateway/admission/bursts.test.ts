import { describe, expect, test } from 'vitest'
import type { RequestClass } from '../routing/tiers.ts'
import { createAdmissionControl } from './admission.ts'

type Outcome = { network: string; at: number; admittedAt?: number; refusedAt?: number }

/** Simulates a process that completes `perSecond` requests, with a simulated clock. */
function createProcess(initialPerSecond: number) {
  const admission = createAdmissionControl(1_000)
  let now = 0
  let perSecond = initialPerSecond
  let credit = 0
  const working: { request: Parameters<typeof admission.enter>[0]; admittedAt: number }[] = []

  const arrive = (requestClass: RequestClass, network = 'one'): Outcome => {
    const outcome: Outcome = { network, at: now }
    if (admission.mayRefuse() && admission.wouldRefuse(requestClass, network, now)) {
      outcome.refusedAt = now
      return outcome
    }
    const request = {
      class: requestClass,
      network,
      admit: () => {
        outcome.admittedAt = now
        working.push({ request, admittedAt: now })
      },
      refuse: () => {
        outcome.refusedAt = now
      }
    }
    admission.enter(request, now)
    return outcome
  }
  return {
    arrive,
    burst: (count: number, of: RequestClass, network?: (index: number) => string) =>
      Array.from({ length: count }, (_, index) => arrive(of, network?.(index))),
    setRate: (next: number) => {
      perSecond = next
    },
    /** Advances the clock; `each` is called every millisecond. */
    run: (milliseconds: number, each: () => void = () => {}) => {
      for (const end = now + milliseconds; now < end; now += 1) {
        credit = working.length === 0 ? 0 : credit + perSecond / 1_000
        for (; credit >= 1 && working.length > 0; credit -= 1) {
          const { request, admittedAt } = working.shift() as (typeof working)[number]
          admission.release(request, admittedAt, now)
        }
        each()
        // As in the gateway, an idle process has no ticks.
        const isIdle = working.length === 0 && admission.statistics().waiting === 0
        if (now % 50 === 0 && !isIdle) admission.tick(now)
      }
    }
  }
}

const refusedOf = (all: readonly Outcome[]) => all.filter(({ refusedAt }) => refusedAt !== undefined)
const admittedOf = (all: readonly Outcome[]) => all.filter(({ admittedAt }) => admittedAt !== undefined)
const waitOf = ({ at, refusedAt = at }: Outcome) => refusedAt - at

describe.each(['checkout', 'account'] as const)('a burst of class %s on an idle process', of => {
  test.each([
    [100, 60],
    [300, 75],
    [300, 120],
    [300, 250],
    [300, 1_000]
  ])('on an idle process, a burst of %d requests at %d a second is served completely', (count, perSecond) => {
    const shop = createProcess(perSecond)
    const all = shop.burst(count, of)
    shop.run(10_000)
    expect(refusedOf(all)).toEqual([])
    expect(admittedOf(all)).toHaveLength(count)
  })

  test.each([50, 200, 600])(
    "of a burst of 1,000 requests at %d a second, one second's worth is admitted and the rest refused within 0.8 s",
    perSecond => {
      const shop = createProcess(perSecond)
      const all = shop.burst(1_000, of)
      shop.run(10_000)
      expect(admittedOf(all).length).toBeGreaterThanOrEqual(perSecond)
      expect(admittedOf(all).length + refusedOf(all).length).toBe(1_000)
      expect(Math.max(...refusedOf(all).map(waitOf))).toBeLessThanOrEqual(800)
    }
  )

  test('the throughput for a burst is measured again after a slow burst of another class and an idle second', () => {
    const shop = createProcess(20)
    const slow = shop.burst(1_000, 'account')
    shop.run(10_000)
    expect(refusedOf(slow).length).toBeGreaterThan(800)
    shop.setRate(300)
    const all = shop.burst(300, of)
    shop.run(5_000)
    expect(refusedOf(all)).toEqual([])
  })
})

test('when service slows down during a burst, requests are refused early or served late, never refused late', () => {
  const shop = createProcess(400)
  const all = shop.burst(1_000, 'checkout')
  shop.run(1_000)
  shop.setRate(150)
  shop.run(20_000)
  expect(Math.max(...refusedOf(all).map(waitOf))).toBeLessThanOrEqual(800)
  expect(admittedOf(all).length + refusedOf(all).length).toBe(1_000)
})

test('the first requests after an idle second are admitted regardless of the throughput of an earlier burst', () => {
  const shop = createProcess(150)
  shop.burst(200, 'checkout')
  shop.run(4_000)
  shop.setRate(400)
  const all = shop.burst(300, 'account')
  shop.run(5_000)
  expect(refusedOf(all)).toEqual([])
})

test('queued browsing requests wait 0.3 s at most', () => {
  const shop = createProcess(100)
  const all = shop.burst(300, 'browse')
  shop.run(5_000)
  expect(admittedOf(all).length).toBeGreaterThanOrEqual(64 + 25)
  expect(Math.max(...refusedOf(all).map(waitOf))).toBeLessThanOrEqual(350)
})

test('a standing queue of requests is cut to 200 ms until no request was refused for a second', () => {
  const shop = createProcess(200)
  const arriving: Outcome[] = []
  let owed = 0
  shop.run(6_000, () => {
    for (owed += 0.4; owed >= 1; owed -= 1) arriving.push(shop.arrive('account'))
  })
  const standing = admittedOf(arriving).filter(({ at }) => at > 2_500)
  expect(Math.max(...standing.map(({ at, admittedAt = at }) => admittedAt - at))).toBeLessThanOrEqual(200)
  expect(standing.length / 3.5).toBeGreaterThan(0.95 * 200)
  shop.run(2_500)
  const burst = shop.burst(200, 'account')
  shop.run(3_000)
  expect(refusedOf(burst)).toEqual([])
})

test('a burst of requests from one address does not delay other addresses, and is refused first', () => {
  const shop = createProcess(200)
  const greedy = shop.burst(1_000, 'account', () => 'greedy')
  const others: Outcome[] = []
  let milliseconds = 0
  shop.run(3_000, () => {
    milliseconds += 1
    if (milliseconds % 10 === 0) others.push(shop.arrive('account', `other-${others.length}`))
  })
  expect(refusedOf(others)).toEqual([])
  expect(refusedOf(greedy).length).toBeGreaterThan(500)
  const greedyWait = Math.max(...admittedOf(greedy).map(({ at, admittedAt = at }) => admittedAt - at))
  const otherWait = Math.max(...others.map(({ at, admittedAt = at }) => admittedAt - at))
  expect(otherWait).toBeLessThan(50)
  expect(greedyWait).toBeGreaterThan(500)
})

test('checkout requests are served before the queued requests of all other classes', () => {
  const shop = createProcess(100)
  shop.burst(500, 'account')
  const paying = shop.burst(20, 'checkout')
  shop.run(1_000)
  expect(Math.max(...admittedOf(paying).map(({ at, admittedAt = at }) => admittedAt - at))).toBeLessThan(250)
  expect(admittedOf(paying)).toHaveLength(20)
})

test('while no request completes, new requests are refused immediately', () => {
  const shop = createProcess(0)
  const all = shop.burst(80, 'account')
  shop.run(600)
  const [late] = shop.burst(1, 'account')
  expect(late?.refusedAt).toBe(late?.at)
  shop.run(400)
  expect(refusedOf(all)).toHaveLength(16)
})
