import { expect, test } from 'vitest'
import { createProviderCaller } from './provider-caller.ts'

/** A caller whose provider answers each call when the test says so. */
function useCaller() {
  const counted: string[] = []
  const waiting: ((answer: string) => void)[] = []
  const caller = createProviderCaller<string>({
    timeoutMs: 60_000,
    count: outcome => counted.push(outcome),
    warn: () => {}
  })
  const ask = (key: string) =>
    caller(
      key,
      () => new Promise(resolve => waiting.push(resolve)),
      () => undefined
    )
  return { ask, counted, waiting }
}

test('simultaneous calls of a provider with equal keys are one call, and a later one is another', async () => {
  const { ask, waiting } = useCaller()
  const both = [ask('a'), ask('a')]
  expect(waiting).toHaveLength(1)
  waiting[0]?.('first')
  expect(await Promise.all(both)).toEqual(['first', 'first'])
  const again = ask('a')
  waiting[1]?.('second')
  expect(await again).toBe('second')
})

test('while a hundred calls wait for a provider, further ones have no answer and do not wait', async () => {
  const { ask, counted, waiting } = useCaller()
  const first = Array.from({ length: 100 }, (_, index) => ask(`first ${index}`))
  expect(await ask('one more')).toBeUndefined()
  expect([waiting.length, counted]).toEqual([100, ['busy']])
  for (const answer of waiting) answer('late')
  expect(await Promise.all(first)).toEqual(Array(100).fill('late'))
  const next = ask('next')
  waiting[100]?.('again')
  expect(await next).toBe('again')
})
