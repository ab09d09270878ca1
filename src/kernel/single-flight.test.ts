import { expect, test } from 'vitest'
import { singleFlight } from './single-flight.ts'

test('callers that come while the work is under way share it, and the next starts anew', async () => {
  const run = singleFlight<number>()
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

test('other keys are other work', async () => {
  const run = singleFlight<string>()
  const keys = ['a', 'b', '__proto__', 'constructor']
  expect(await Promise.all(keys.map(key => run(key, async () => key)))).toEqual(keys)
})

test("a failure is everybody's who waits, and is not remembered", async () => {
  const run = singleFlight<string>()
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
