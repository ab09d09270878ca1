import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { PaymentSandboxOptions } from './server.ts'

const PROGRAM = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './main.ts' : './program.js', import.meta.url)
)
const START_MS_MAX = 10_000

/** Runs the sandbox as a child process. `address` starts it, and starts it again after it ended. */
export function createSandboxProcess(options: () => PaymentSandboxOptions) {
  let child: ChildProcess | undefined
  let starting: Promise<string> | undefined

  async function start(): Promise<string> {
    const started = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] })
    child = started
    const isOver = new Promise<never>((_, reject) => {
      started.once('error', reject)
      started.once('exit', () => reject(new Error('the sandbox process ended')))
    })
    // A process that ends must not reset the state of one that was started after it.
    isOver.catch(() => {
      if (child === started) starting = undefined
    })
    // The process may end before it reads its options.
    started.stdin?.on('error', () => {})
    started.stdin?.write(`${JSON.stringify(options())}\n`)
    const said = new Promise<string>((resolve, reject) => {
      setTimeout(() => reject(new Error('the sandbox did not start in time')), START_MS_MAX).unref()
      createInterface({ input: started.stdout as NodeJS.ReadableStream }).once('line', line => {
        const { url, error } = JSON.parse(line)
        if (url === undefined) reject(new Error(`the sandbox cannot start: ${error}`))
        else resolve(url)
      })
    })
    return Promise.race([said, isOver])
  }

  return {
    address: (): Promise<string> => {
      starting ??= start().catch(error => {
        starting = undefined
        child?.kill()
        throw error
      })
      return starting
    },
    stop: async () => {
      const running = child
      if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
      const ended = new Promise(resolve => running.once('exit', resolve))
      running.kill()
      await ended
    }
  }
}
