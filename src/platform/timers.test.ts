import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../test/faults/until.ts'
import { databaseReadOnlyError } from './postgres/errors.ts'
import { createTimers } from './timers.ts'

function useTimers({ isReadOnly = false } = {}) {
  const lines: Record<string, unknown>[] = []
  const log = pino({ errorKey: 'err' }, { write: (line: string) => lines.push(JSON.parse(line)) })
  const timers = createTimers(log, isReadOnly)
  onTestFinished(() => timers.stop())
  return { timers, lines }
}

test('a timer runs repeatedly and logs each run that processed something', async () => {
  const { timers, lines } = useTimers()
  let runs = 0
  timers.every(0.01, 'cleanup', async () => {
    runs += 1
    return runs === 2 ? 7 : 0
  })
  await until('the timer has run five times', () => runs >= 5)
  expect(lines).toEqual([expect.objectContaining({ timer: 'cleanup', count: 7, msg: 'timer done' })])
})

test('a failing timer is logged and keeps running; other timers are not affected', async () => {
  const { timers, lines } = useTimers()
  let failures = 0
  let successes = 0
  timers.every(0.01, 'bad', async () => {
    failures += 1
    throw new Error(`failure ${failures}`)
  })
  timers.every(0.01, 'worse', () => {
    throw new Error('before the first await')
  })
  timers.every(0.01, 'good', async () => {
    successes += 1
    return 0
  })
  await until('both timers have run three times', () => failures >= 3 && successes >= 3)
  const bad = lines.filter(line => line.timer === 'bad')
  expect(bad.length).toBeGreaterThanOrEqual(2)
  expect(bad[0]).toMatchObject({ level: 50, msg: 'timer failed', err: { message: 'failure 1' } })
  expect(lines.filter(line => line.timer === 'worse').length).toBeGreaterThanOrEqual(2)
})

test('a timer never overlaps its own previous run', async () => {
  const { timers } = useTimers()
  let running = 0
  let runs = 0
  let most = 0
  timers.every(0.001, 'slow', async () => {
    running += 1
    most = Math.max(most, running)
    await delay(20)
    running -= 1
    runs += 1
    return 0
  })
  await until('the timer has run five times', () => runs >= 5)
  expect(most).toBe(1)
})

test("the helper untilEmpty repeats a timer's batches until one is empty, and logs their total", async () => {
  const { timers, lines } = useTimers()
  const left = [1_000, 1_000, 7, 0]
  timers.untilEmpty(0.01, 'cleanup', async () => left.shift() ?? 0)
  await until('all batches are done', () => left.length === 0)
  await timers.stop()
  expect(lines).toMatchObject([{ timer: 'cleanup', count: 2_007, msg: 'timer done' }])
})

test('the helper untilEmpty stops after the running batch when the program stops', async () => {
  const { timers } = useTimers()
  let batches = 0
  timers.untilEmpty(0.001, 'endless', async () => {
    batches += 1
    await delay(1)
    return 1
  })
  await until('a batch is done', () => batches > 1)
  await timers.stop()
  const seen = batches
  await delay(20)
  expect(batches).toBe(seen)
})

test('stopping the timers cancels their pauses', async () => {
  const { timers } = useTimers()
  for (let i = 0; i < 50; i += 1) timers.every(3_600, `hourly ${i}`, () => Promise.reject(new Error('never')))
  // Without the cancellation this waits for an hour.
  await timers.stop()
})

test('stopping the timers aborts running work, waits for it, and starts nothing afterwards', async () => {
  const { timers } = useTimers()
  let runs = 0
  let ended = false
  timers.every(0.001, 'long', async signal => {
    runs += 1
    while (!signal.aborted) await delay(5)
    await delay(30)
    ended = true
    return 0
  })
  await until('the timer runs', () => runs === 1)
  await timers.stop()
  expect(ended).toBe(true)
  await delay(20)
  expect(runs).toBe(1)
})

test.each([
  [true, 1],
  [false, 3]
])(
  'a timer that tries to write in a process that only reads (%s) runs %i times',
  async (isReadOnly, most) => {
    const { timers, lines } = useTimers({ isReadOnly })
    let writes = 0
    timers.every(0.005, 'writes', async () => {
      writes += 1
      throw databaseReadOnlyError()
    })
    let reads = 0
    timers.every(0.01, 'reads', async () => {
      reads += 1
      return 0
    })
    await until('the timers have run', () => reads >= 10 && writes >= most)
    expect(writes === 1).toBe(isReadOnly)
    expect(lines.length > 0).toBe(!isReadOnly)
  }
)
