import { expect, test } from 'vitest'
import { createBreaker } from './breaker.ts'

test('a circuit opens after five failures in a row, is tried every 15 s, and tells when it closes', () => {
  let [time, closed] = [1_000_000, 0]
  const breaker = createBreaker(
    () => {
      closed += 1
    },
    () => time
  )
  for (let failure = 0; failure < 4; failure += 1) breaker.failed()
  breaker.answered()
  expect([breaker.isOpen(), closed]).toEqual([false, 0])
  for (let failure = 0; failure < 5; failure += 1) {
    expect(breaker.admits()).toBe(true)
    breaker.failed()
  }
  expect([breaker.isOpen(), breaker.admits()]).toEqual([true, false])
  time += 15_000
  expect([breaker.isAskable(), breaker.isAskable()]).toEqual([true, true])
  expect([breaker.admits(), breaker.isAskable(), breaker.admits()]).toEqual([true, false, false])
  breaker.failed()
  expect(breaker.admits()).toBe(false)
  time += 15_000
  expect(breaker.admits()).toBe(true)
  breaker.answered()
  expect([breaker.isOpen(), breaker.admits(), closed]).toEqual([false, true, 1])
})
