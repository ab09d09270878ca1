import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** With more requests than this in one turn of the event loop, connections are queued for reading. */
const REQUESTS_PER_TURN_MAX = 512
/** Queued connections that are read in one turn. */
const READ_PER_TURN = 64
const NEW_READ_PER_TURN = 2 * READ_PER_TURN
/** While connections keep arriving, reading pauses for this time to accept them. Then it continues for as long. */
const ACCEPT_MS_MAX = 200
const TICK_MS = 10
/** Event loop utilization. Below it, or while it admits no requests, the process refuses requests as fast as they arrive. */
const BUSY_SHARE = 0.9
/** A busy process reads this many refused connections again for each admitted request. */
const REFUSED_PER_ADMITTED = 0.5
/** Refused connections that it reads in each tick at least. */
const REFUSED_MIN = 8

export type AcceptQueue = {
  /** A connection was accepted. */
  connectionAccepted(socket: Socket): void
  /** A request was admitted. */
  requestAdmitted(socket: Socket, response: ServerResponse): void
  /** A request was refused. */
  requestRefused(socket: Socket, response: ServerResponse): void
}

/**
 * Limits how many connections are read in one turn of the event loop; the others wait, and their data stays in the kernel.
 * Without it, libuv polls up to 1,024 ready sockets up to 48 times before any timer or `setImmediate`, and accepts one
 * connection per poll. With 2,500 clients on one core, throughput fell to a fifth, and accepting a connection took ten
 * seconds (2026-11).
 */
export function createAcceptQueue(): AcceptQueue {
  const newSockets = new SocketQueue()
  const waiting = new SocketQueue()
  const refused = new SocketQueue()
  let [requestsInTurn, admitted, admittedBefore] = [0, 0, 0]
  let [hasArrived, isTurnSet] = [false, false]
  let [heldSince, mayHoldFrom] = [0, 0]
  let ticking: NodeJS.Timeout | undefined
  const isBusy = createBusyMeter(() => admitted)

  const turn = () => {
    isTurnSet = false
    requestsInTurn = 0
    for (const queue of [newSockets, waiting, refused]) queue.pause()
    const now = performance.now()
    const isHeld = hasArrived && now >= mayHoldFrom && now < heldSince + ACCEPT_MS_MAX
    hasArrived = false
    if (!isHeld) {
      // The newest connections are read too, so that a health check during overload does not wait behind all others.
      newSockets.readOldest(NEW_READ_PER_TURN)
      newSockets.readNewest(NEW_READ_PER_TURN)
      waiting.readOldest(READ_PER_TURN)
      if (now >= mayHoldFrom) mayHoldFrom = now + (now - heldSince)
      heldSince = now
    }
    if (newSockets.length + waiting.length > 0) setTurn()
  }
  const setTurn = () => {
    if (isTurnSet) return
    isTurnSet = true
    setImmediate(turn)
  }
  const tick = () => {
    const paced = Math.max(REFUSED_MIN, Math.ceil((admitted - admittedBefore) * REFUSED_PER_ADMITTED))
    refused.readOldest(isBusy() ? paced : refused.length)
    admittedBefore = admitted
    if (refused.length > 0) return
    clearInterval(ticking)
    ticking = undefined
  }
  const waitIn = (queue: SocketQueue, socket: Socket) => {
    queue.add(socket)
    setTurn()
    if (queue !== refused || ticking !== undefined) return
    admittedBefore = admitted
    ticking = setInterval(tick, TICK_MS).unref()
  }
  const isCrowded = () => requestsInTurn > REQUESTS_PER_TURN_MAX || waiting.length > 0

  return {
    connectionAccepted(socket) {
      if (newSockets.length === 0 && waiting.length === 0) heldSince = performance.now()
      hasArrived = true
      waitIn(newSockets, socket)
    },
    requestAdmitted(socket, response) {
      requestsInTurn += 1
      admitted += 1
      setTurn()
      if (isCrowded()) response.once('finish', () => waitIn(waiting, socket))
    },
    requestRefused(socket, response) {
      requestsInTurn += 1
      setTurn()
      if (isBusy()) response.once('finish', () => waitIn(refused, socket))
      else if (isCrowded()) response.once('finish', () => waitIn(waiting, socket))
    }
  }
}

/** Returns whether the event loop was busy in the last interval and admitted requests. Measures every 10 ms at most. */
function createBusyMeter(admittedOf: () => number): () => boolean {
  let seen = { at: 0, admitted: 0, used: performance.eventLoopUtilization() }
  let isBusy = false
  return () => {
    const [at, admitted] = [performance.now(), admittedOf()]
    const ticks = (at - seen.at) / TICK_MS
    if (ticks < 1) return isBusy
    const used = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(used, seen.used)
    isBusy = utilization > BUSY_SHARE && admitted - seen.admitted >= REFUSED_MIN * ticks
    seen = { at, admitted, used }
    return isBusy
  }
}

/** Connections that wait to be read. */
class SocketQueue {
  readonly #sockets: Socket[] = []
  #paused = 0

  get length(): number {
    return this.#sockets.length
  }
  add(socket: Socket): void {
    this.#sockets.push(socket)
  }
  /** Called at the end of a turn, because Node resumes reading after each response. */
  pause(): void {
    for (; this.#paused < this.#sockets.length; this.#paused += 1) this.#sockets[this.#paused]?.pause()
  }
  readOldest(countMax: number): void {
    this.#read(this.#sockets.splice(0, countMax))
  }
  readNewest(countMax: number): void {
    this.#read(this.#sockets.splice(-countMax))
  }
  #read(sockets: Socket[]): void {
    this.#paused = Math.max(0, this.#paused - sockets.length)
    for (const socket of sockets) if (!socket.destroyed) socket.resume()
  }
}
