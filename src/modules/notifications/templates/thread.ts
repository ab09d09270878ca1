import { parentPort, workerData } from 'node:worker_threads'
import { createEngine, TemplateFault } from './engine.ts'
import type { Task, ThreadMessage } from './renderer.ts'

// The program of the thread that renders templates.

const post = (message: ThreadMessage) => parentPort?.postMessage(message)
const engine = createEngine({ ...workerData, onPart: part => post({ kind: 'part', part }) })
await engine.load()

const factsOf = ({ part, line, message }: TemplateFault) => ({ part, line, message })

async function run(task: Task): Promise<ThreadMessage> {
  if (task.kind === 'check')
    return { kind: 'checked', faults: (await engine.check(task.words, task.samples)).map(factsOf) }
  try {
    return { kind: 'rendered', rendered: await engine.render(task.words, task.scope) }
  } catch (error) {
    if (error instanceof TemplateFault) return { kind: 'fault', fault: factsOf(error) }
    throw error
  }
}

parentPort?.on('message', (task: Task) => {
  run(task).then(post, error => {
    throw error
  })
})
post({ kind: 'ready' })
