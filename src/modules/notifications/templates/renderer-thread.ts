import { parentPort, workerData } from 'node:worker_threads'
import { createEngine, TemplateFault } from './liquid-engine.ts'
import type { RendererMessage, RenderTask } from './renderer.ts'

// Runs in the worker thread that renders templates.

const post = (message: RendererMessage) => parentPort?.postMessage(message)
const engine = createEngine({ ...workerData, onPart: part => post({ kind: 'part', part }) })
await engine.load()

/** Errors lose their class between threads, so faults are sent as plain data. */
const plainFault = ({ part, line, message }: TemplateFault) => ({ part, line, message })

async function run(task: RenderTask): Promise<RendererMessage> {
  if (task.kind === 'check')
    return { kind: 'checked', faults: (await engine.check(task.source, task.samples)).map(plainFault) }
  try {
    return { kind: 'rendered', rendered: await engine.render(task.source, task.variables) }
  } catch (error) {
    if (error instanceof TemplateFault) return { kind: 'fault', fault: plainFault(error) }
    throw error
  }
}

parentPort?.on('message', (task: RenderTask) => {
  run(task).then(post, error => {
    throw error
  })
})
post({ kind: 'ready' })
