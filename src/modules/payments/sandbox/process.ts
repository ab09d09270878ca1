import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { SandboxOptions } from './server.ts'

const PROGRAM = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './program.ts' : './program.js', import.meta.url)
)
const START_MS_MAX = 10_000

/** The sandbox as a process of its own, which is started when somebody asks where it is, and again when it has ended. */
export function createSandboxProcess(options: () => SandboxOptions) {
  let child: ChildProcess | undefined
  let starting: Promise<string> | undefined

  async function start(): Promise<string> {
    const started = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] })
    child = started
    const isOver = new Promise<never>((_, reject) => {
      started.once('error', reject)
      started.once('exit', () => reject(new Error('the sandbox has ended')))
    })
    // A later start is not disturbed by the end of an earlier one.
    isOver.catch(() => {
      if (child === started) starting = undefined
    })
    // It may end before it has read.
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
