import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createAcceptQueue } from './accept-queue.ts'

function fakeSocket() {
  const socket = {
    destroyed: false,
    isRead: true,
    pause() {
      socket.isRead = false
      return socket
    },
    resume() {
      socket.isRead = true
      return socket
    }
  }
  return socket
}
type FakeSocket = ReturnType<typeof fakeSocket>

const fakeSockets = (count: number) => Array.from({ length: count }, fakeSocket)
const readOf = (sockets: FakeSocket[]) => sockets.filter(({ isRead }) => isRead).length

/** Sends a request on each socket in one turn, all answered in the same turn. */
function ask(sockets: FakeSocket[], how: (socket: Socket, response: ServerResponse) => void): void {
  for (const socket of sockets) {
    const response = new EventEmitter()
    how(socket as unknown as Socket, response as ServerResponse)
    response.emit('finish')
  }
}

/** Share of the time that the event loop is busy. */
let utilization = 0

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  const used = vi.spyOn(performance, 'eventLoopUtilization')
  used.mockImplementation(() => ({ utilization, idle: 0, active: 0 }))
  utilization = 0
  onTestFinished(() => {
    vi.useRealTimers()
    used.mockRestore()
  })
})

test('a new connection is first read in the event-loop turn after the one in which it arrived', async () => {
  const acceptQueue = createAcceptQueue()
  const socket = fakeSocket()
  acceptQueue.connectionAccepted(socket as unknown as Socket)
  await nextTurn()
  expect(socket.isRead).toBe(false)
  await nextTurn()
  expect(socket.isRead).toBe(true)
})

test('while connections keep arriving none of them is read, but only for a short time', async () => {
  const acceptQueue = createAcceptQueue()
  const sockets: FakeSocket[] = []
  /** One per millisecond, each in its own turn. */
  const arrive = async (count: number) => {
    for (const socket of fakeSockets(count)) {
      vi.advanceTimersByTime(1)
      sockets.push(socket)
      acceptQueue.connectionAccepted(socket as unknown as Socket)
      await nextTurn()
    }
  }
  await arrive(190)
  expect(readOf(sockets)).toBe(0)
  await arrive(20)
  expect(readOf(sockets)).toBeGreaterThan(190)
  // New connections are read for as long as reading paused before. Then the cycle repeats.
  await arrive(180)
  expect(readOf(sockets)).toBeGreaterThan(380)
  await arrive(100)
  expect(readOf(sockets)).toBeLessThan(420)
})

test('with too many requests in an event-loop turn, connections are read at the pace of responses, in order', async () => {
  const acceptQueue = createAcceptQueue()
  const sockets = fakeSockets(712)
  ask(sockets, acceptQueue.requestAdmitted)
  await nextTurn()
  // The first 512 are within the limit. Of the queued ones, 64 are read in each turn.
  expect(readOf(sockets)).toBe(576)
  expect(readOf(sockets.slice(0, 576))).toBe(576)
  // While connections wait, served ones queue behind them.
  ask(sockets.slice(0, 1), acceptQueue.requestAdmitted)
  await nextTurn()
  expect(readOf(sockets)).toBe(639)
  expect(sockets[0]?.isRead).toBe(false)
  for (let turns = 0; turns < 2; turns += 1) await nextTurn()
  expect(readOf(sockets)).toBe(712)
})

test('no new connection waits to be read at low load', async () => {
  const acceptQueue = createAcceptQueue()
  const sockets = fakeSockets(512)
  for (let turns = 0; turns < 3; turns += 1) {
    ask(sockets, acceptQueue.requestAdmitted)
    await nextTurn()
    expect(readOf(sockets)).toBe(512)
  }
})

/** Creates the queue of a busy process that admits this many requests in each 10 ms. */
async function busyIntake(served: number) {
  const acceptQueue = createAcceptQueue()
  const serve = () => {
    ask(fakeSockets(served), acceptQueue.requestAdmitted)
    vi.advanceTimersByTime(10)
  }
  utilization = 1
  serve()
  const sockets = fakeSockets(100)
  ask(sockets, acceptQueue.requestRefused)
  await nextTurn()
  return { sockets, serve }
}

test.each([
  [10, 13],
  [60, 4]
])(
  'while %d requests are served between them, refused connections are read again at a limited pace',
  async (served, ticks) => {
    const { sockets, serve } = await busyIntake(served)
    expect(readOf(sockets)).toBe(0)
    for (let tick = 1; tick < ticks; tick += 1) serve()
    expect(readOf(sockets)).toBeLessThan(100)
    serve()
    expect(readOf(sockets)).toBe(100)
  }
)

test.each([
  ['has time to spare', 0.8, 60],
  ['admits no requests', 1, 0]
])(
  'a process that %s keeps reading the connections whose requests it refuses',
  async (_what, share, served) => {
    const { sockets: waited, serve } = await busyIntake(60)
    expect(readOf(waited)).toBe(0)
    utilization = share
    serve()
    const { sockets } = await (served === 0 ? busyIntake(0) : { sockets: waited })
    expect(readOf(sockets)).toBe(100)
  }
)

test('a connection that was closed while it waited to be read is not read', async () => {
  const acceptQueue = createAcceptQueue()
  const socket = fakeSocket()
  acceptQueue.connectionAccepted(socket as unknown as Socket)
  await nextTurn()
  socket.destroyed = true
  await nextTurn()
  expect(socket.isRead).toBe(false)
})
