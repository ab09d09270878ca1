import { expect, test } from 'vitest'
import type { RequestClass } from '../routing/tiers.ts'
import { createAdmissionControl } from './admission.ts'

type Caller = { network: string; class: RequestClass; perSecond: number }
type Seen = { good: number; refused: number; waitedMsMax: number }

/**
 * Simulates callers of a backend that serves `perSecond` requests in order, each in at least `baseMs`. Requests count from
 * the fifth second on, because a standing queue is detected by then.
 */
function simulate(
  callers: readonly Caller[],
  { perSecond, baseMs = 5, seconds = 15 }: Record<string, number>
) {
  const admission = createAdmissionControl(1_000)
  const seen = new Map<Caller, Seen>(callers.map(each => [each, { good: 0, refused: 0, waitedMsMax: 0 }]))
  const due = new Map(callers.map(each => [each, 0]))
  let ends: { at: number; end: (now: number) => void }[] = []
  let freeAt = 0
  let now = 0

  const ask = (caller: Caller): void => {
    const counted = seen.get(caller) as Seen
    const isCounted = now >= 5_000
    if (admission.mayRefuse() && admission.wouldRefuse(caller.class, caller.network, now)) {
      if (isCounted) counted.refused += 1
      return
    }
    const askedAt = now
    const request = {
      ...caller,
      admit: () => {
        const admittedAt = now
        freeAt = Math.max(freeAt, now) + 1_000 / (perSecond ?? 1)
        if (isCounted) counted.waitedMsMax = Math.max(counted.waitedMsMax, now - askedAt)
        const end = (at: number) => {
          if (isCounted) counted.good += 1
          admission.release(request, admittedAt, at)
        }
        ends.push({ at: Math.max(freeAt, now + baseMs), end })
      },
      refuse: () => {
        if (isCounted) counted.refused += 1
      }
    }
    admission.enter(request, now)
  }

  for (; now < seconds * 1_000; now += 1) {
    const ended = ends.filter(each => each.at <= now)
    ends = ends.filter(each => each.at > now)
    for (const { end } of ended) end(now)
    for (const caller of callers) {
      let owed = (due.get(caller) ?? 0) + caller.perSecond / 1_000
      for (; owed >= 1; owed -= 1) ask(caller)
      due.set(caller, owed)
    }
    if (now % 50 === 0) admission.tick(now)
  }
  return callers.map(each => seen.get(each) as Seen)
}

const shopper = (network: string, perSecond: number, of: RequestClass = 'account'): Caller => ({
  network,
  class: of,
  perSecond
})

test.each([
  [2, 0.95],
  [5, 0.95],
  [10, 0.95]
])(
  'at %i times the capacity of a backend, it stays busy and no request waits more than 200 ms',
  (times, share) => {
    const [all] = simulate([shopper('a', 400 * times)], { perSecond: 400, baseMs: 50 })
    expect((all as Seen).good / 10 / 400).toBeGreaterThan(share)
    expect((all as Seen).waitedMsMax).toBeLessThanOrEqual(200)
  }
)

test('admission refuses no request while the load is within the capacity', () => {
  const [all] = simulate([shopper('a', 900)], { perSecond: 1_000 })
  expect(all?.refused).toBe(0)
})

test('an address that sends ten times the capacity does not delay addresses that send little', () => {
  const others = Array.from({ length: 20 }, (_, index) => shopper(`other-${index}`, 10))
  const [greedy, ...seen] = simulate([shopper('greedy', 4_000), ...others], { perSecond: 400 })
  const served = seen.reduce((sum, each) => sum + each.good, 0)
  const refused = seen.reduce((sum, each) => sum + each.refused, 0)
  expect(served / (served + refused)).toBeGreaterThan(0.95)
  // The rest of the capacity is used.
  expect((served + (greedy?.good ?? 0)) / 10 / 400).toBeGreaterThan(0.95)
})

test('checkouts are served before browsing requests', () => {
  const [pays, looks] = simulate([shopper('a', 100, 'checkout'), shopper('a', 4_000, 'browse')], {
    perSecond: 400
  })
  expect(pays?.refused).toBe(0)
  expect(looks?.good).toBeGreaterThan(2_500)
})
