import { Worker } from 'node:worker_threads'
import { rendererBusy } from '../errors.ts'
import { type Part, type Rendered, TemplateFault } from './engine.ts'
import type { Samples } from './samples.ts'
import type { Words } from './words.ts'

type Scope = Readonly<Record<string, unknown>>
type Fault = { readonly part: Part; readonly line: number; readonly message: string }
export type Task =
  | { readonly kind: 'render'; readonly words: Words; readonly scope: Scope }
  | { readonly kind: 'check'; readonly words: Words; readonly samples: Samples }
type Outcome =
  | { readonly kind: 'rendered'; readonly rendered: Rendered }
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'checked'; readonly faults: readonly Fault[] }
/** What the thread sends: `part` names what it works on from now on. */
export type ThreadMessage =
  | Outcome
  | { readonly kind: 'ready' }
  | { readonly kind: 'part'; readonly part: Part }

const THREAD = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)
/** CPU time that each part may take. Time on the clock says little while other processes have the processor. */
const CPU_MS_MAX = 200
/** Time on the clock, for a thread that does not even answer how much it has used. */
const CLOCK_MS_MAX = 5_000
const START_MS_MAX = 30_000
const WAITING_MAX = 100
const MEMORY_MB_MAX = 64

type Waiting = { task: Task; settle: PromiseWithResolvers<Outcome> }
type Thread = { worker: Worker; ready: Promise<void> }

export type TemplateRenderer = ReturnType<typeof createRenderer>

/**
 * Renders templates in a thread of its own, one after the other: staff write them, and one with large loops would keep the
 * shop from answering anything else. A part that takes more than 200 ms of CPU ends the thread, and fails as one with a fault
 * does; the next task gets a new thread. At most 100 tasks wait.
 */
export function createRenderer(options: { timeZone: string }) {
  const waiting: Waiting[] = []
  let thread: Thread | undefined
  let isRunning = false

  function openThread(): Thread {
    const worker = new Worker(THREAD, {
      workerData: options,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX }
    })
    worker.unref()
    const ready = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(reject, START_MS_MAX, new Error('the thread for templates does not start'))
      worker.once('message', () => {
        clearTimeout(timer)
        resolve()
      })
      worker.once('error', reject)
    })
    ready.catch(() => {})
    return { worker, ready }
  }

  async function closeThread(): Promise<void> {
    const closing = thread?.worker
    thread = undefined
    await closing?.terminate()
  }

  /** Runs a task in the thread. @throws TemplateFault when it takes too long or too much memory. */
  async function runInThread(task: Task): Promise<Outcome> {
    thread ??= openThread()
    const { worker, ready } = thread
    await ready
    const outcome = Promise.withResolvers<Outcome>()
    let part: Part = 'subject'
    let before = await worker.cpuUsage()
    const onMessage = async (message: ThreadMessage) => {
      if (message.kind === 'ready') return
      if (message.kind !== 'part') return outcome.resolve(message)
      part = message.part
      before = await worker.cpuUsage()
    }
    const fail = (reason: string) => outcome.reject(new TemplateFault(part, 1, reason))
    const onError = (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') fail('it takes too much memory')
      else outcome.reject(error)
    }
    const look = async () => {
      const { user, system } = await worker.cpuUsage(before)
      if ((user + system) / 1_000 > CPU_MS_MAX) fail(`it takes longer than ${CPU_MS_MAX} ms`)
    }
    const looking = setInterval(() => look().catch(() => {}), CPU_MS_MAX / 4)
    const giveUp = setTimeout(fail, CLOCK_MS_MAX, `it takes longer than ${CLOCK_MS_MAX} ms`)
    worker.on('message', onMessage).once('error', onError)
    worker.postMessage(task)
    try {
      return await outcome.promise
    } finally {
      clearInterval(looking)
      clearTimeout(giveUp)
      worker.off('message', onMessage).off('error', onError)
    }
  }

  /** Never rejects: the caller of a task gets its error. */
  async function runAll(): Promise<void> {
    if (isRunning) return
    isRunning = true
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      try {
        next.settle.resolve(await runInThread(next.task))
      } catch (error) {
        await closeThread()
        next.settle.reject(error)
      }
    }
    isRunning = false
  }

  function run(task: Task): Promise<Outcome> {
    if (waiting.length >= WAITING_MAX) throw rendererBusy()
    const settle = Promise.withResolvers<Outcome>()
    waiting.push({ task, settle })
    runAll()
    return settle.promise
  }

  return {
    /** @throws TemplateFault, `NOTIFICATION_RENDERER_BUSY` */
    render: async (words: Words, scope: Scope): Promise<Rendered> => {
      const outcome = await run({ kind: 'render', words, scope })
      if (outcome.kind === 'rendered') return outcome.rendered
      throw outcome.kind === 'fault' ? faultOf(outcome.fault) : new Error('a render task was not rendered')
    },
    /** The faults of a template, of which the samples are all that it may name. @throws `NOTIFICATION_RENDERER_BUSY` */
    check: async (words: Words, samples: Samples): Promise<TemplateFault[]> => {
      try {
        const outcome = await run({ kind: 'check', words, samples })
        return outcome.kind === 'checked' ? outcome.faults.map(faultOf) : []
      } catch (error) {
        if (error instanceof TemplateFault) return [error]
        throw error
      }
    },
    close: closeThread
  }
}

const faultOf = ({ part, line, message }: Fault): TemplateFault => new TemplateFault(part, line, message)
