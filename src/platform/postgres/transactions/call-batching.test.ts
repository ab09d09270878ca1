import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, onTestFinished, test, vi } from 'vitest'
import { defineError } from '../../../kernel/errors.ts'
import { databaseUnavailableError } from '../errors.ts'
import { createCallBatcher } from './call-batching.ts'

const refused = defineError('conflict', 'TEST_REFUSED', 'refused')
const turn = () => new Promise(resolve => setImmediate(resolve))
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

/** Work that doubles each number, notes its batches, and waits while the gate is closed. */
function doubling() {
  const batches: (readonly number[])[] = []
  let gate = Promise.resolve()
  const work = async (items: readonly number[]) => {
    batches.push(items)
    await gate
    return items.map(item => item * 2)
  }
  const close = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    return resolve
  }
  return { batches, work, close }
}

test('batched calls of one event-loop turn share a batch, and each caller gets its own result', async () => {
  const { batches, work } = doubling()
  const double = createCallBatcher(work, 1_000)
  expect(await Promise.all(numbers(5).map(double))).toEqual([0, 2, 4, 6, 8])
  expect(await double(7)).toBe(14)
  expect(batches).toEqual([numbers(5), [7]])
})

test('at most two batches of calls run at a time, and calls that arrive meanwhile share the next batch in order', async () => {
  const { batches, work, close } = doubling()
  const double = createCallBatcher(work, 1_000)
  const open = close()
  const made: Promise<number>[] = []
  for (const number of numbers(6)) {
    made.push(double(number))
    await turn()
  }
  expect(batches).toEqual([[0], [1]])
  open()
  expect(await Promise.all(made)).toEqual([0, 2, 4, 6, 8, 10])
  expect(batches).toEqual([[0], [1], [2, 3, 4, 5]])
})

test('a batch of calls runs in the asynchronous context of its first caller, not in that of the previous batch', async () => {
  const context = new AsyncLocalStorage<number>()
  const contexts: unknown[] = []
  const { work, close } = doubling()
  const double = createCallBatcher((items: readonly number[]) => {
    contexts.push(context.getStore())
    return work(items)
  }, 1_000)
  const open = close()
  const made: Promise<number>[] = []
  for (const number of numbers(4)) {
    made.push(context.run(number, () => double(number)))
    await turn()
  }
  open()
  await Promise.all(made)
  expect(contexts).toEqual([0, 1, 2])
})

test('no batch of calls has more than 64 calls', async () => {
  const { batches, work } = doubling()
  await Promise.all(numbers(130).map(createCallBatcher(work, 1_000)))
  expect(batches.map(({ length }) => length)).toEqual([64, 64, 2])
})

test('a failing call in a batch rejects only its own caller', async () => {
  const { batches, work } = doubling()
  const error = refused()
  const double = createCallBatcher(async (items: readonly number[]) => {
    const made = await work(items)
    if (items.includes(2)) throw error
    return made
  }, 1_000)
  const made = await Promise.allSettled(numbers(4).map(double))
  expect(made.map(each => (each.status === 'fulfilled' ? each.value : each.reason))).toEqual([0, 2, error, 6])
  expect(batches).toEqual([numbers(4), [0], [1], [2], [3]])
  expect(await double(9)).toBe(18)
})

test('a batch of calls that may be committed is not retried', async () => {
  const { batches, work } = doubling()
  const lost = databaseUnavailableError({ retryAfterSeconds: 1 })
  const double = createCallBatcher(async (items: readonly number[]) => {
    await work(items)
    throw lost
  }, 1_000)
  const made = await Promise.allSettled(numbers(3).map(double))
  expect(made.map(each => each.status === 'rejected' && each.reason)).toEqual([lost, lost, lost])
  expect(batches).toEqual([numbers(3)])
})

test('a batched call that waits longer than its limit is rejected as busy and is not executed', async () => {
  const { batches, work, close } = doubling()
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
  onTestFinished(() => clock.mockRestore())
  const double = createCallBatcher(work, 500)
  const open = close()
  const underWay = [double(0)]
  await turn()
  underWay.push(double(1))
  await turn()
  const late = double(2)
  clock.mockReturnValue(400)
  const inTime = double(3)
  clock.mockReturnValue(501)
  open()
  await expect(late).rejects.toMatchObject({ code: 'DATABASE_BUSY', retryAfterSeconds: 1 })
  expect(await Promise.all([...underWay, inTime])).toEqual([0, 2, 6])
  expect(batches).toEqual([[0], [1], [3]])
})
