import { parentPort, workerData } from 'node:worker_threads'
import { createLiquidEngine, MAIL_TEMPLATE_PARTS, MailTemplateFaultError } from './liquid-engine.ts'
import type {
  MailRendererThreadData,
  MailRendererThreadMessage,
  MailTemplateOutcome,
  MailTemplateRenderTask
} from './renderer.ts'

// Runs in the worker thread that renders templates.

const { timeZone, progress }: MailRendererThreadData = workerData
const post = (message: MailRendererThreadMessage) => parentPort?.postMessage(message)
const engine = createLiquidEngine({
  timeZone,
  onPart: part => {
    progress[1] = MAIL_TEMPLATE_PARTS.indexOf(part)
    Atomics.add(progress, 2, 1)
  }
})
await engine.load()

/** Errors lose their class between threads, so faults are sent as plain data. */
const plainFault = ({ part, line, message }: MailTemplateFaultError) => ({ part, line, message })

async function run(task: MailTemplateRenderTask): Promise<MailTemplateOutcome> {
  if (task.kind === 'check')
    return { kind: 'checked', faults: (await engine.check(task.source, task.samples)).map(plainFault) }
  try {
    return { kind: 'rendered', rendered: await engine.render(task.source, task.variables) }
  } catch (error) {
    if (error instanceof MailTemplateFaultError) return { kind: 'fault', fault: plainFault(error) }
    throw error
  }
}

async function runAll(tasks: readonly MailTemplateRenderTask[]): Promise<void> {
  const outcomes: MailTemplateOutcome[] = []
  for (const [index, task] of tasks.entries()) {
    progress[0] = index
    outcomes.push(await run(task))
  }
  post(outcomes)
}

parentPort?.on('message', (tasks: readonly MailTemplateRenderTask[]) => {
  runAll(tasks).catch(error => {
    throw error
  })
})
post('ready')
