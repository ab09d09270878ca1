import { parentPort, workerData } from 'node:worker_threads'
import { createLiquidEngine, MailTemplateFaultError } from './liquid-engine.ts'
import type { MailRendererThreadMessage, MailTemplateRenderTask } from './renderer.ts'

// Runs in the worker thread that renders templates.

const post = (message: MailRendererThreadMessage) => parentPort?.postMessage(message)
const engine = createLiquidEngine({ ...workerData, onPart: part => post({ kind: 'part', part }) })
await engine.load()

/** Errors lose their class between threads, so faults are sent as plain data. */
const plainFault = ({ part, line, message }: MailTemplateFaultError) => ({ part, line, message })

async function run(task: MailTemplateRenderTask): Promise<MailRendererThreadMessage> {
  if (task.kind === 'check')
    return { kind: 'checked', faults: (await engine.check(task.source, task.samples)).map(plainFault) }
  try {
    return { kind: 'rendered', rendered: await engine.render(task.source, task.variables) }
  } catch (error) {
    if (error instanceof MailTemplateFaultError) return { kind: 'fault', fault: plainFault(error) }
    throw error
  }
}

parentPort?.on('message', (task: MailTemplateRenderTask) => {
  run(task).then(post, error => {
    throw error
  })
})
post({ kind: 'ready' })
