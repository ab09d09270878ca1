import { expect, test } from 'vitest'
import { settleAllOrThrow } from './settle-all-or-throw.ts'

test('settleAllOrThrow waits for all promises and returns their values in order', async () => {
  expect(await settleAllOrThrow([Promise.resolve(1), undefined, Promise.resolve('two')])).toEqual([
    1,
    undefined,
    'two'
  ])
})

test('settleAllOrThrow rejects with the reason of the first promise in order, even when that rejects last', async () => {
  const late = Promise.withResolvers<never>()
  const failed = settleAllOrThrow([
    Promise.resolve(1),
    late.promise,
    Promise.reject(new Error('its consequence'))
  ])
  late.reject(new Error('the reason'))
  await expect(failed).rejects.toThrow('the reason')
})
