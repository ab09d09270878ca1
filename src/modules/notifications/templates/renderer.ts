import { Worker } from 'node:worker_threads'
import { templateRendererBusyError } from '../errors.ts'
import {
  MAIL_TEMPLATE_PARTS,
  MailTemplateFaultError,
  type MailTemplatePart,
  type RenderedMail
} from './liquid-engine.ts'
import type { MailTemplateSource } from './mail-parts.ts'
import type { MailTemplateSamples } from './samples.ts'

type Variables = Readonly<Record<string, unknown>>
type Fault = { readonly part: MailTemplatePart; readonly line: number; readonly message: string }
export type MailTemplateRenderTask =
  | { readonly kind: 'render'; readonly source: MailTemplateSource; readonly variables: Variables }
  | { readonly kind: 'check'; readonly source: MailTemplateSource; readonly samples: MailTemplateSamples }
export type MailTemplateOutcome =
  | { readonly kind: 'rendered'; readonly rendered: RenderedMail }
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'checked'; readonly faults: readonly Fault[] }
/** The outcomes of all tasks that the thread was given together, by index. */
export type MailRendererThreadMessage = 'ready' | readonly MailTemplateOutcome[]
export type MailRendererThreadData = {
  readonly timeZone: string
  /** Shared: the index of the task that is rendered, that of its part, and how many parts were begun. */
  readonly progress: Int32Array
}

const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? './renderer-thread.ts' : './renderer-thread.js',
  import.meta.url
)
/** CPU time that a part may take. Wall-clock time would also count the waits for a busy processor. */
const CPU_MS_MAX = 200
/** Wall-clock time of a part, for a thread that does not even report its CPU time. */
const CLOCK_MS_MAX = 5_000
const START_MS_MAX = 30_000
const QUEUE_MAX = 100
/** Tasks that the thread gets together, because waking it up takes as long as rendering a mail. */
const TASKS_MAX = 16
const MEMORY_MB_MAX = 64

/** The task with this index failed. `cause` is the error of its caller. */
class RenderFailure extends Error {
  readonly index: number

  constructor(index: number, cause: Error) {
    super(cause.message, { cause })
    this.index = index
  }
}
type QueuedTask = { task: MailTemplateRenderTask; settle: PromiseWithResolvers<MailTemplateOutcome> }
type Thread = { worker: Worker; progress: Int32Array; ready: Promise<void> }

export type MailTemplateRenderer = ReturnType<typeof createMailTemplateRenderer>

/**
 * Renders templates one after the other in a separate thread. Staff write templates, and one with large loops would block
 * every other request. A part that takes more than 200 ms of CPU fails with a MailTemplateFaultError and ends the thread; the
 * other tasks start a new one. At most 100 tasks wait.
 */
export function createMailTemplateRenderer(options: { timeZone: string }) {
  const queue: QueuedTask[] = []
  let thread: Thread | undefined
  let isRunning = false

  function openThread(): Thread {
    const progress = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT))
    const workerData: MailRendererThreadData = { ...options, progress }
    const worker = new Worker(THREAD, {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX }
    })
    worker.unref()
    const ready = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(reject, START_MS_MAX, new Error('the template thread did not start'))
      worker.once('message', () => {
        clearTimeout(timer)
        resolve()
      })
      worker.once('error', reject)
    })
    ready.catch(() => {})
    return { worker, progress, ready }
  }

  async function closeThread(): Promise<void> {
    const closing = thread?.worker
    thread = undefined
    await closing?.terminate()
  }

  /** Runs tasks in the thread. @throws RenderFailure when one takes too long or too much memory. */
  async function runInThread(
    tasks: readonly MailTemplateRenderTask[]
  ): Promise<readonly MailTemplateOutcome[]> {
    thread ??= openThread()
    const { worker, progress, ready } = thread
    await ready
    const outcomes = Promise.withResolvers<readonly MailTemplateOutcome[]>()
    const reject = (toError: (part: MailTemplatePart) => Error) => {
      const [index = 0, part = 0] = progress
      outcomes.reject(new RenderFailure(index, toError(MAIL_TEMPLATE_PARTS[part] ?? 'subject')))
    }
    const fail = (reason: string) => reject(part => new MailTemplateFaultError(part, 1, reason))
    const onMessage = (message: MailRendererThreadMessage) => {
      if (message !== 'ready') outcomes.resolve(message)
    }
    const onError = (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') fail('it takes too much memory')
      else reject(() => error)
    }
    const onExit = () => outcomes.reject(new Error('the template thread was closed'))
    /** The part that is rendered, when it was first seen, and the CPU time of the thread until then. */
    let seen: { begun: number; at: number; cpuMs?: number } = { begun: -1, at: 0 }
    const checkTime = async () => {
      const [begun, now] = [Atomics.load(progress, 2), performance.now()]
      if (begun !== seen.begun) seen = { begun, at: now }
      if (now - seen.at > CLOCK_MS_MAX) fail(`it takes longer than ${CLOCK_MS_MAX} ms`)
      const part = seen
      const { user, system } = await worker.cpuUsage()
      const cpuMs = (user + system) / 1_000
      part.cpuMs ??= cpuMs
      if (part === seen && cpuMs - part.cpuMs > CPU_MS_MAX) fail(`it takes longer than ${CPU_MS_MAX} ms`)
    }
    const timeCheck = setInterval(() => checkTime().catch(() => {}), CPU_MS_MAX / 4)
    worker.on('message', onMessage).once('error', onError).once('exit', onExit)
    worker.postMessage(tasks)
    try {
      return await outcomes.promise
    } finally {
      clearInterval(timeCheck)
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
    }
  }

  /** Never rejects: the caller of a task gets its error. */
  async function runAll(): Promise<void> {
    if (isRunning) return
    isRunning = true
    while (queue.length > 0) {
      const batch = queue.splice(0, TASKS_MAX)
      try {
        const outcomes = await runInThread(batch.map(({ task }) => task))
        for (const [index, { settle }] of batch.entries())
          settle.resolve(outcomes[index] as MailTemplateOutcome)
      } catch (error) {
        await closeThread()
        const [failed] = error instanceof RenderFailure ? batch.splice(error.index, 1) : []
        failed?.settle.reject((error as RenderFailure).cause)
        // Rendering has no effects, so the others are rendered again.
        if (failed === undefined) for (const { settle } of batch) settle.reject(error)
        else queue.unshift(...batch)
      }
    }
    isRunning = false
  }

  function run(task: MailTemplateRenderTask): Promise<MailTemplateOutcome> {
    if (queue.length >= QUEUE_MAX) throw templateRendererBusyError()
    const settle = Promise.withResolvers<MailTemplateOutcome>()
    queue.push({ task, settle })
    runAll()
    return settle.promise
  }

  return {
    /** @throws MailTemplateFaultError, `NOTIFICATION_RENDERER_BUSY` */
    render: async (source: MailTemplateSource, variables: Variables): Promise<RenderedMail> => {
      const outcome = await run({ kind: 'render', source, variables })
      if (outcome.kind === 'rendered') return outcome.rendered
      throw outcome.kind === 'fault' ? faultOf(outcome.fault) : new Error('a render task was not rendered')
    },
    /** Returns the faults of a template, which may use the variables of the samples only. @throws `NOTIFICATION_RENDERER_BUSY` */
    check: async (
      source: MailTemplateSource,
      samples: MailTemplateSamples
    ): Promise<MailTemplateFaultError[]> => {
      try {
        const outcome = await run({ kind: 'check', source, samples })
        return outcome.kind === 'checked' ? outcome.faults.map(faultOf) : []
      } catch (error) {
        if (error instanceof MailTemplateFaultError) return [error]
        throw error
      }
    },
    close: closeThread
  }
}

const faultOf = ({ part, line, message }: Fault): MailTemplateFaultError =>
  new MailTemplateFaultError(part, line, message)
