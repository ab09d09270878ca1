import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** With more requests than this in one turn of the event loop, connections are read in turn, */
const CROWD = 512
/** so many in a turn. */
const AT_ONCE = 64
const NEWCOMERS_AT_ONCE = 2 * AT_ONCE
/** While connections keep arriving they are accepted, and nobody is read, for so long; and then not for as long again. */
const ARRIVALS_MS_MAX = 200
const TICK_MS = 10
/** A process that is idle for the rest of the time, or serves nobody, may refuse as much as it is asked to. */
const BUSY_SHARE = 0.9
/** Otherwise so many refused connections are read again for each request that was let in, */
const REFUSED_PER_LET_IN = 0.5
/** and so many a tick, however few are let in. */
const REFUSED_MIN = 8

export type Intake = {
  /** A connection was accepted. */
  arrived(socket: Socket): void
  /** A request was let in. */
  letIn(socket: Socket, response: ServerResponse): void
  /** A request is refused. */
  refused(socket: Socket, response: ServerResponse): void
}

/**
 * Reads no more than can be done. libuv takes up to 1,024 ready sockets from the kernel at once, accepts one connection
 * for each time that it does so, and comes back for more up to 48 times before any timer or `setImmediate`. So 2,500
 * impatient clients on one core were served a fifth of what is possible, and a new connection was not even accepted for
 * ten seconds (2026-11). Therefore, when there is much to do, connections are read in turn, and left alone until then:
 * what they send waits in the kernel.
 */
export function createIntake(): Intake {
  const newcomers = new Queue()
  const waiting = new Queue()
  const refused = new Queue()
  let [taken, letIn, letInBefore] = [0, 0, 0]
  let [hasArrived, isTurnSet] = [false, false]
  let [heldSince, mayHoldFrom] = [0, 0]
  let ticking: NodeJS.Timeout | undefined
  const isBusy = createBusyMeter(() => letIn)

  const turn = () => {
    isTurnSet = false
    taken = 0
    for (const queue of [newcomers, waiting, refused]) queue.pause()
    const now = performance.now()
    const isHeld = hasArrived && now >= mayHoldFrom && now < heldSince + ARRIVALS_MS_MAX
    hasArrived = false
    if (!isHeld) {
      // The newest, too: whoever asks in the midst of a crowd whether the process works is not the last to know.
      newcomers.readOldest(NEWCOMERS_AT_ONCE)
      newcomers.readNewest(NEWCOMERS_AT_ONCE)
      waiting.readOldest(AT_ONCE)
      if (now >= mayHoldFrom) mayHoldFrom = now + (now - heldSince)
      heldSince = now
    }
    if (newcomers.length + waiting.length > 0) setTurn()
  }
  const setTurn = () => {
    if (isTurnSet) return
    isTurnSet = true
    setImmediate(turn)
  }
  const tick = () => {
    const paced = Math.max(REFUSED_MIN, Math.ceil((letIn - letInBefore) * REFUSED_PER_LET_IN))
    refused.readOldest(isBusy() ? paced : refused.length)
    letInBefore = letIn
    if (refused.length > 0) return
    clearInterval(ticking)
    ticking = undefined
  }
  const waitIn = (queue: Queue, socket: Socket) => {
    queue.add(socket)
    setTurn()
    if (queue !== refused || ticking !== undefined) return
    letInBefore = letIn
    ticking = setInterval(tick, TICK_MS).unref()
  }
  const isCrowded = () => taken > CROWD || waiting.length > 0

  return {
    arrived(socket) {
      if (newcomers.length === 0 && waiting.length === 0) heldSince = performance.now()
      hasArrived = true
      waitIn(newcomers, socket)
    },
    letIn(socket, response) {
      taken += 1
      letIn += 1
      setTurn()
      if (isCrowded()) response.once('finish', () => waitIn(waiting, socket))
    },
    refused(socket, response) {
      taken += 1
      setTurn()
      if (isBusy()) response.once('finish', () => waitIn(refused, socket))
      else if (isCrowded()) response.once('finish', () => waitIn(waiting, socket))
    }
  }
}

/** Whether the event loop had hardly a pause lately, and requests to serve. Looks every 10 ms at most. */
function createBusyMeter(letInOf: () => number): () => boolean {
  let seen = { at: 0, letIn: 0, used: performance.eventLoopUtilization() }
  let isBusy = false
  return () => {
    const [at, letIn] = [performance.now(), letInOf()]
    const ticks = (at - seen.at) / TICK_MS
    if (ticks < 1) return isBusy
    const used = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(used, seen.used)
    isBusy = utilization > BUSY_SHARE && letIn - seen.letIn >= REFUSED_MIN * ticks
    seen = { at, letIn, used }
    return isBusy
  }
}

/** Connections that wait to be read. */
class Queue {
  readonly #sockets: Socket[] = []
  #paused = 0

  get length(): number {
    return this.#sockets.length
  }
  add(socket: Socket): void {
    this.#sockets.push(socket)
  }
  /** At the end of a turn: right behind an answer Node begins to read again. */
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
