import { Worker } from 'node:worker_threads'
import { templateRendererBusyError } from '../errors.ts'
import { MailTemplateFaultError, type MailTemplatePart, type RenderedMail } from './liquid-engine.ts'
import type { MailTemplateSource } from './mail-parts.ts'
import type { MailTemplateSamples } from './samples.ts'

type Variables = Readonly<Record<string, unknown>>
type Fault = { readonly part: MailTemplatePart; readonly line: number; readonly message: string }
export type MailTemplateRenderTask =
  | { readonly kind: 'render'; readonly source: MailTemplateSource; readonly variables: Variables }
  | { readonly kind: 'check'; readonly source: MailTemplateSource; readonly samples: MailTemplateSamples }
type Outcome =
  | { readonly kind: 'rendered'; readonly rendered: RenderedMail }
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'checked'; readonly faults: readonly Fault[] }
/** Message of the thread. `part` names the part that it renders from now on. */
export type MailRendererThreadMessage =
  | Outcome
  | { readonly kind: 'ready' }
  | { readonly kind: 'part'; readonly part: MailTemplatePart }

const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? './renderer-thread.ts' : './renderer-thread.js',
  import.meta.url
)
/** CPU time that each part may take. Wall-clock time would also count the waits for a busy processor. */
const CPU_MS_MAX = 200
/** Wall-clock time, for a thread that does not even report its CPU time. */
const CLOCK_MS_MAX = 5_000
const START_MS_MAX = 30_000
const QUEUE_MAX = 100
const MEMORY_MB_MAX = 64

type QueuedTask = { task: MailTemplateRenderTask; settle: PromiseWithResolvers<Outcome> }
type Thread = { worker: Worker; ready: Promise<void> }

export type MailTemplateRenderer = ReturnType<typeof createMailTemplateRenderer>

/**
 * Renders templates one after the other in a separate thread. Staff write templates, and one with large loops would block
 * every other request. A part that takes more than 200 ms of CPU fails with a MailTemplateFaultError and ends the thread; the next
 * task starts a new one. At most 100 tasks wait.
 */
export function createMailTemplateRenderer(options: { timeZone: string }) {
  const queue: QueuedTask[] = []
  let thread: Thread | undefined
  let isRunning = false

  function openThread(): Thread {
    const worker = new Worker(THREAD, {
      workerData: options,
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
    return { worker, ready }
  }

  async function closeThread(): Promise<void> {
    const closing = thread?.worker
    thread = undefined
    await closing?.terminate()
  }

  /** Runs a task in the thread. @throws MailTemplateFaultError when it takes too long or too much memory. */
  async function runInThread(task: MailTemplateRenderTask): Promise<Outcome> {
    thread ??= openThread()
    const { worker, ready } = thread
    await ready
    const outcome = Promise.withResolvers<Outcome>()
    let part: MailTemplatePart = 'subject'
    let before = await worker.cpuUsage()
    const onMessage = (message: MailRendererThreadMessage) => {
      if (message.kind === 'ready') return
      if (message.kind !== 'part') return outcome.resolve(message)
      part = message.part
      // Rejects when the thread was closed meanwhile. No other message follows then.
      worker.cpuUsage().then(usage => {
        before = usage
      }, outcome.reject)
    }
    const fail = (reason: string) => outcome.reject(new MailTemplateFaultError(part, 1, reason))
    const onError = (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') fail('it takes too much memory')
      else outcome.reject(error)
    }
    const checkCpuTime = async () => {
      const { user, system } = await worker.cpuUsage(before)
      if ((user + system) / 1_000 > CPU_MS_MAX) fail(`it takes longer than ${CPU_MS_MAX} ms`)
    }
    const cpuCheck = setInterval(() => checkCpuTime().catch(() => {}), CPU_MS_MAX / 4)
    const giveUp = setTimeout(fail, CLOCK_MS_MAX, `it takes longer than ${CLOCK_MS_MAX} ms`)
    worker.on('message', onMessage).once('error', onError)
    worker.postMessage(task)
    try {
      return await outcome.promise
    } finally {
      clearInterval(cpuCheck)
      clearTimeout(giveUp)
      worker.off('message', onMessage).off('error', onError)
    }
  }

  /** Never rejects: the caller of a task gets its error. */
  async function runAll(): Promise<void> {
    if (isRunning) return
    isRunning = true
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      try {
        next.settle.resolve(await runInThread(next.task))
      } catch (error) {
        await closeThread()
        next.settle.reject(error)
      }
    }
    isRunning = false
  }

  function run(task: MailTemplateRenderTask): Promise<Outcome> {
    if (queue.length >= QUEUE_MAX) throw templateRendererBusyError()
    const settle = Promise.withResolvers<Outcome>()
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
