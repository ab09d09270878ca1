import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { findRunningSandbox } from './running.ts'
import type { PaymentSandboxOptions } from './server.ts'

const PROGRAM = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './main.ts' : './program.js', import.meta.url)
)
const START_MS_MAX = 10_000

/**
 * Runs the sandbox as a child process. `address` starts it, and starts it again after it ended. A sandbox of the same folder that
 * another process has started is used instead.
 */
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

  const isOwn = () => child !== undefined && child.exitCode === null && child.signalCode === null

  return {
    address: async (): Promise<string> => {
      const running = isOwn() ? undefined : await findRunningSandbox(options())
      if (running !== undefined) return running
      starting ??= start().catch(async error => {
        starting = undefined
        child?.kill()
        // Another process may have started one at the same time.
        const other = await findRunningSandbox(options())
        if (other === undefined) throw error
        return other
      })
      return starting
    },
    stop: async () => {
      if (!isOwn()) return
      const ended = new Promise(resolve => child?.once('exit', resolve))
      child?.kill()
      await ended
    }
  }
}
