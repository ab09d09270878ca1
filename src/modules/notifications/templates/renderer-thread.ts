import { parentPort, workerData } from 'node:worker_threads'
import { createLiquidEngine, TemplateFault } from './liquid-engine.ts'
import type { RendererThreadMessage, TemplateRenderTask } from './renderer.ts'

// Runs in the worker thread that renders templates.

const post = (message: RendererThreadMessage) => parentPort?.postMessage(message)
const engine = createLiquidEngine({ ...workerData, onPart: part => post({ kind: 'part', part }) })
await engine.load()

/** Errors lose their class between threads, so faults are sent as plain data. */
const plainFault = ({ part, line, message }: TemplateFault) => ({ part, line, message })

async function run(task: TemplateRenderTask): Promise<RendererThreadMessage> {
  if (task.kind === 'check')
    return { kind: 'checked', faults: (await engine.check(task.source, task.samples)).map(plainFault) }
  try {
    return { kind: 'rendered', rendered: await engine.render(task.source, task.variables) }
  } catch (error) {
    if (error instanceof TemplateFault) return { kind: 'fault', fault: plainFault(error) }
    throw error
  }
}

parentPort?.on('message', (task: TemplateRenderTask) => {
  run(task).then(post, error => {
    throw error
  })
})
post({ kind: 'ready' })
