import { expect, test } from 'vitest'
import { createCircuitBreaker } from './circuit-breaker.ts'

test("a provider's circuit opens after five failures in a row, probes every 15 s, and reports when it closes", () => {
  let [time, closed] = [1_000_000, 0]
  const breaker = createCircuitBreaker(
    () => {
      closed += 1
    },
    () => time
  )
  for (let failure = 0; failure < 4; failure += 1) breaker.recordFailure()
  breaker.recordSuccess()
  expect([breaker.isOpen(), closed]).toEqual([false, 0])
  for (let failure = 0; failure < 5; failure += 1) {
    expect(breaker.tryAdmit()).toBe(true)
    breaker.recordFailure()
  }
  expect([breaker.isOpen(), breaker.tryAdmit()]).toEqual([true, false])
  time += 15_000
  expect([breaker.isProbeDue(), breaker.isProbeDue()]).toEqual([true, true])
  expect([breaker.tryAdmit(), breaker.isProbeDue(), breaker.tryAdmit()]).toEqual([true, false, false])
  breaker.recordFailure()
  expect(breaker.tryAdmit()).toBe(false)
  time += 15_000
  expect(breaker.tryAdmit()).toBe(true)
  breaker.recordSuccess()
  expect([breaker.isOpen(), breaker.tryAdmit(), closed]).toEqual([false, true, 1])
})
