import { expect, test } from 'vitest'
import { createSingleFlight } from './single-flight.ts'

test('simultaneous callers share work that is in progress, and a later caller starts it again', async () => {
  const run = createSingleFlight<number>()
  let runs = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const work = async () => {
    runs += 1
    await promise
    return runs
  }
  const together = Array.from({ length: 10 }, () => run('a', work))
  resolve()
  expect(await Promise.all(together)).toEqual(Array(10).fill(1))
  expect(await run('a', work)).toBe(2)
})

test('single-flight calls with different keys do not share work', async () => {
  const run = createSingleFlight<string>()
  const keys = ['a', 'b', '__proto__', 'constructor']
  expect(await Promise.all(keys.map(key => run(key, async () => key)))).toEqual(keys)
})

test('a failure of shared work rejects every waiting caller, and is not cached', async () => {
  const run = createSingleFlight<string>()
  const fail = () => Promise.reject(new Error('no'))
  const outcomes = await Promise.allSettled([run('a', fail), run('a', fail)])
  expect(outcomes.map(each => each.status)).toEqual(['rejected', 'rejected'])
  expect(await run('a', async () => 'yes')).toBe('yes')
  const failAtOnce = () => {
    throw new Error('at once')
  }
  await expect(run('a', failAtOnce)).rejects.toThrow('at once')
  expect(await run('a', async () => 'yes')).toBe('yes')
})
