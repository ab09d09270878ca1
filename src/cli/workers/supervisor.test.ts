import pino from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createWorkerSupervisor, type WorkerEnd, type WorkerProcess } from './supervisor.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

type Simulated = WorkerProcess & { number: number; become(): void; end(): void; stops: boolean[] }

/** A supervisor of two simulated workers, which are ready immediately unless `isHeld`. */
function useSupervisor() {
  const launched: Simulated[] = []
  const held = { isHeld: false }
  const launch = (number: number): WorkerProcess => {
    const ready = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<WorkerEnd>()
    const stops: boolean[] = []
    const end = () => {
      ready.reject(new Error('it ended'))
      ended.resolve({ code: 0, signal: null })
    }
    const process: Simulated = {
      number,
      stops,
      pid: 100 + launched.length,
      ready: ready.promise,
      ended: ended.promise,
      end,
      become: ready.resolve,
      stop: isReplaced => {
        stops.push(isReplaced)
        end()
      },
      kill: end
    }
    if (!held.isHeld) ready.resolve()
    launched.push(process)
    return process
  }
  const log = pino({ level: 'silent' })
  return { launched, held, supervisor: createWorkerSupervisor({ count: 2, log: () => log, launch }) }
}
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)

test('a worker that ends right after each start is started again after a growing pause of 30 seconds at most', async () => {
  const { launched, supervisor } = useSupervisor()
  await supervisor.start()
  const pauses: number[] = []
  for (let death = 0; death < 12; death += 1) {
    const count = launched.length
    launched.at(-1)?.end()
    await pass(0)
    let pause = 0
    for (; launched.length === count; pause += 100) await pass(100)
    pauses.push(pause)
  }
  expect(pauses).toEqual([0, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000, 30_000])
  await pass(10_001)
  launched.at(-1)?.end()
  await pass(0)
  expect(launched).toHaveLength(15)
})

test('a replacement that does not start leaves the old workers running', async () => {
  const { launched, held, supervisor } = useSupervisor()
  await supervisor.start()
  held.isHeld = true
  supervisor.roll()
  await pass(0)
  launched[2]?.end()
  await pass(60_000)
  expect(launched.map(({ stops }) => stops)).toEqual([[], [], []])
})

test('each worker is stopped when the one that replaces it is ready, and one after another', async () => {
  const { launched, held, supervisor } = useSupervisor()
  await supervisor.start()
  held.isHeld = true
  supervisor.roll()
  await pass(0)
  expect(launched.map(({ number, stops }) => [number, stops])).toEqual([
    [1, []],
    [2, []],
    [1, []]
  ])
  launched[2]?.become()
  await pass(0)
  expect(launched.map(({ number, stops }) => [number, stops])).toEqual([
    [1, [true]],
    [2, []],
    [1, []],
    [2, []]
  ])
})

test('a replacement that is asked for during the start changes nothing', async () => {
  const { launched, held, supervisor } = useSupervisor()
  held.isHeld = true
  const starting = supervisor.start()
  supervisor.roll()
  launched[0]?.become()
  await pass(0)
  launched[1]?.become()
  await starting
  await pass(60_000)
  expect(launched.map(({ number, stops }) => [number, stops])).toEqual([
    [1, []],
    [2, []]
  ])
})

test('a worker that ends while its replacement starts is not started twice', async () => {
  const { launched, held, supervisor } = useSupervisor()
  await supervisor.start()
  held.isHeld = true
  supervisor.roll()
  await pass(0)
  launched[0]?.end()
  await pass(1_000)
  launched[2]?.become()
  await pass(0)
  launched[3]?.become()
  await pass(60_000)
  expect(launched.map(({ number }) => number)).toEqual([1, 2, 1, 2])
})

test('a stop during a replacement stops every process, and none is started afterwards', async () => {
  const { launched, held, supervisor } = useSupervisor()
  await supervisor.start()
  held.isHeld = true
  supervisor.roll()
  await pass(0)
  expect(await supervisor.stop()).toBe(true)
  await pass(60_000)
  expect(launched.map(({ stops }) => stops)).toEqual([[false], [false], [false]])
})
