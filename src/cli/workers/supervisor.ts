import type { Log } from '../../platform/log.ts'

/** How a process ended. */
export type WorkerEnd = { code: number | null; signal: string | null }
/** One process of a worker. A worker keeps its number when its process is replaced. */
export type WorkerProcess = {
  readonly pid: number
  /** Resolves when it serves requests; rejects when it ends before. */
  readonly ready: Promise<void>
  readonly ended: Promise<WorkerEnd>
  /** Begins to stop it. `isReplaced`: another process serves in its place, so it accepts no more connections. */
  stop(isReplaced: boolean): void
  kill(): void
}
type Deps = {
  count: number
  log: () => Log
  launch(number: number): WorkerProcess
}
type Slot = {
  readonly number: number
  current: WorkerProcess
  startedAt: number
  pauseMs: number
  /** The process that replaces the current one, until it is ready. */
  next: WorkerProcess | undefined
}

/** A process that lived longer is restarted immediately. */
const STABLE_MS = 10_000
const PAUSE_MS_MIN = 200
const PAUSE_MS_MAX = 30_000

/** Keeps `count` workers running: restarts those that end, and replaces all of them one after another. */
export function createWorkerSupervisor({ count, log, launch }: Deps) {
  const slots: Slot[] = []
  /** Every process that runs, also those that were replaced and still finish requests. */
  const running = new Set<WorkerProcess>()
  const stopping = new AbortController()
  let hasStarted = false
  let restarts = 0
  let rolling: Promise<void> | undefined
  let isRollWanted = false

  const start = (number: number): WorkerProcess => {
    const started = launch(number)
    running.add(started)
    started.ready.then(
      () => log().info({ worker: number, pid: started.pid }, 'a worker serves requests'),
      () => {}
    )
    started.ended.finally(() => running.delete(started))
    return started
  }
  const add = (number: number): Slot => {
    const slot = {
      number,
      current: start(number),
      startedAt: performance.now(),
      pauseMs: 0,
      next: undefined
    }
    slots.push(slot)
    return slot
  }

  /** Starts a process whenever the current one of this worker ends. */
  async function keep(slot: Slot): Promise<void> {
    for (;;) {
      const { current } = slot
      const end = await current.ended
      if (slot.next !== undefined) await rolling
      if (stopping.signal.aborted) return
      if (slot.current !== current) continue
      log().error({ worker: slot.number, pid: current.pid, ...end }, 'a worker ended; it is started again')
      if (performance.now() - slot.startedAt > STABLE_MS) slot.pauseMs = 0
      await pause(slot.pauseMs, stopping.signal)
      if (stopping.signal.aborted) return
      if (slot.current !== current) continue
      slot.pauseMs = Math.min(Math.max(2 * slot.pauseMs, PAUSE_MS_MIN), PAUSE_MS_MAX)
      slot.startedAt = performance.now()
      restarts += 1
      slot.current = start(slot.number)
    }
  }

  /** Replaces the processes one after another: each new one serves before the old one stops. */
  async function rollOnce(): Promise<void> {
    for (const slot of slots) {
      if (stopping.signal.aborted) return
      const { current: old } = slot
      const next = start(slot.number)
      slot.next = next
      const isReady = await next.ready.then(
        () => true,
        () => false
      )
      slot.next = undefined
      if (stopping.signal.aborted) return
      if (!isReady) {
        log().error({ worker: slot.number }, 'the new worker did not start; the old workers keep running')
        return
      }
      slot.current = next
      slot.startedAt = performance.now()
      old.stop(true)
      await old.ended
      log().info({ worker: slot.number, pid: old.pid }, 'a worker was replaced')
    }
  }

  return {
    /** Starts all workers, the first one before the others. Rejects when one of them ends before it is ready. */
    async start(): Promise<void> {
      await add(1).current.ready
      const others = Array.from({ length: count - 1 }, (_, index) => add(index + 2))
      await Promise.all(others.map(({ current }) => current.ready))
      for (const slot of slots) void keep(slot)
      hasStarted = true
    },
    /** Replaces all workers. A call during a replacement replaces them again afterwards; one during the start does nothing. */
    roll(): void {
      if (!hasStarted) return
      isRollWanted = true
      rolling ??= (async () => {
        while (isRollWanted && !stopping.signal.aborted) {
          isRollWanted = false
          await rollOnce()
        }
        rolling = undefined
      })()
    },
    /** How often a worker was started again because it had ended. */
    restarts: () => restarts,
    isStopping: () => stopping.signal.aborted,
    /** Stops all workers. Returns whether all of them ended with code 0. */
    async stop(): Promise<boolean> {
      stopping.abort()
      for (const each of running) each.stop(false)
      const ends = await Promise.all([...running].map(({ ended }) => ended))
      return ends.every(({ code }) => code === 0)
    },
    /** Kills all processes. */
    kill(): void {
      for (const each of running) each.kill()
    }
  }
}

/** Waits for this time, or until `signal` is aborted. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  signal.addEventListener('abort', () => resolve(), { once: true })
  return promise.finally(() => clearTimeout(timer))
}
