import { expect, test } from 'vitest'
import { inOrder } from './in-order.ts'

test('everything is waited for, and answered in its order', async () => {
  expect(await inOrder([Promise.resolve(1), undefined, Promise.resolve('two')])).toEqual([
    1,
    undefined,
    'two'
  ])
})

test('the reason is that of the first in order, however late it comes', async () => {
  const late = Promise.withResolvers<never>()
  const failed = inOrder([Promise.resolve(1), late.promise, Promise.reject(new Error('its consequence'))])
  late.reject(new Error('the reason'))
  await expect(failed).rejects.toThrow('the reason')
})
