import { expect, test } from 'vitest'
import { keep } from './kept.ts'

function useKept() {
  const state = { isLive: true, reads: 0, change: () => {}, answers: [] as ((value: string) => void)[] }
  const changes = {
    isLive: () => state.isLive,
    subscribe: (onChange: () => void) => {
      state.change = onChange
    }
  }
  const read = keep(changes, () => {
    state.reads += 1
    return new Promise<string>(resolve => state.answers.push(resolve))
  })
  return { state, read }
}

test('what was read once is kept until it changes, and read once for all who ask meanwhile', async () => {
  const { state, read } = useKept()
  const both = [read(), read()]
  state.answers[0]?.('old')
  expect(await Promise.all(both)).toEqual(['old', 'old'])
  expect([await read(), state.reads]).toEqual(['old', 1])
  state.change()
  const next = read()
  state.answers[1]?.('new')
  expect([await next, await read(), state.reads]).toEqual(['new', 'new', 2])
})

test('what was read before a change and arrives after it is not kept', async () => {
  const { state, read } = useKept()
  const before = read()
  state.change()
  const after = read()
  state.answers[0]?.('old')
  state.answers[1]?.('new')
  expect([await before, await after, await read()]).toEqual(['old', 'new', 'new'])
})

test('while changes may be missed, nothing is kept', async () => {
  const { state, read } = useKept()
  state.isLive = false
  const first = read()
  state.answers[0]?.('one')
  await first
  const second = read()
  state.answers[1]?.('two')
  expect(await second).toBe('two')
})
