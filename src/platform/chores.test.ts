import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../test/faults/until.ts'
import { createChores } from './chores.ts'

function useChores() {
  const lines: Record<string, unknown>[] = []
  const log = pino({ errorKey: 'err' }, { write: (line: string) => lines.push(JSON.parse(line)) })
  const chores = createChores(log)
  onTestFinished(() => chores.stop())
  return { chores, lines }
}

test('a chore runs again and again, and what it did is logged when it did something', async () => {
  const { chores, lines } = useChores()
  let runs = 0
  chores.every(0.01, 'sweep', async () => {
    runs += 1
    return runs === 2 ? 7 : 0
  })
  await until('it has run five times', () => runs >= 5)
  expect(lines).toEqual([expect.objectContaining({ chore: 'sweep', count: 7, msg: 'chore done' })])
})

test('a chore that fails is logged and goes on, and the others do not notice', async () => {
  const { chores, lines } = useChores()
  let failures = 0
  let successes = 0
  chores.every(0.01, 'bad', async () => {
    failures += 1
    throw new Error(`failure ${failures}`)
  })
  chores.every(0.01, 'worse', () => {
    throw new Error('before the first await')
  })
  chores.every(0.01, 'good', async () => {
    successes += 1
    return 0
  })
  await until('both have run', () => failures >= 3 && successes >= 3)
  const bad = lines.filter(line => line.chore === 'bad')
  expect(bad.length).toBeGreaterThanOrEqual(2)
  expect(bad[0]).toMatchObject({ level: 50, msg: 'chore failed', err: { message: 'failure 1' } })
  expect(lines.filter(line => line.chore === 'worse').length).toBeGreaterThanOrEqual(2)
})

test('a chore never runs beside itself', async () => {
  const { chores } = useChores()
  let running = 0
  let runs = 0
  let most = 0
  chores.every(0.001, 'slow', async () => {
    running += 1
    most = Math.max(most, running)
    await delay(20)
    running -= 1
    runs += 1
    return 0
  })
  await until('it has run', () => runs >= 5)
  expect(most).toBe(1)
})

test('a sweep repeats its batches until one finds nothing, and counts them together', async () => {
  const { chores, lines } = useChores()
  const left = [1_000, 1_000, 7, 0]
  chores.sweep(0.01, 'sweep', async () => left.shift() ?? 0)
  await until('it has run', () => left.length === 0)
  await chores.stop()
  expect(lines).toMatchObject([{ chore: 'sweep', count: 2_007, msg: 'chore done' }])
})

test('a sweep ends between two batches when the program stops', async () => {
  const { chores } = useChores()
  let batches = 0
  chores.sweep(0.001, 'endless', async () => {
    batches += 1
    await delay(1)
    return 1
  })
  await until('it runs', () => batches > 1)
  await chores.stop()
  const seen = batches
  await delay(20)
  expect(batches).toBe(seen)
})

test('stopping ends the pauses at once', async () => {
  const { chores } = useChores()
  for (let i = 0; i < 50; i += 1) chores.every(3_600, `hourly ${i}`, () => Promise.reject(new Error('never')))
  // Would wait for an hour otherwise.
  await chores.stop()
})

test('stopping signals the work under way and waits for it, and nothing starts afterwards', async () => {
  const { chores } = useChores()
  let runs = 0
  let ended = false
  chores.every(0.001, 'long', async signal => {
    runs += 1
    while (!signal.aborted) await delay(5)
    await delay(30)
    ended = true
    return 0
  })
  await until('it runs', () => runs === 1)
  await chores.stop()
  expect(ended).toBe(true)
  await delay(20)
  expect(runs).toBe(1)
})
