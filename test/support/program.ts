import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
export const SOURCE = resolve(ROOT, 'src/main.ts')
/** The program that tests start: the bundle, see `bundled-program.ts`, or the sources. */
export const MAIN = resolve(ROOT, process.env.TEST_PROGRAM ?? SOURCE)
/** The bundle of a program in test/faults, or its source. */
export const victimProgram = (name: string): string =>
  process.env.TEST_VICTIMS === undefined
    ? resolve(ROOT, 'test/faults', `${name}.ts`)
    : resolve(process.env.TEST_VICTIMS, `${name}.mjs`)
const LISTENS = /listens on (http:\/\/\S+)/

type Output = { stdout: string; stderr: string }
type Ended = Output & { code: number | null }
export type Program = {
  child: ChildProcess
  /** Resolves with the address once the program says where it listens; rejects when it ends before. */
  listening: Promise<string>
  ended: Promise<Ended>
  /** What it has written so far. */
  output: Output
}
type Options = {
  main?: string
  args?: string[]
  uid?: number
  gid?: number
  cwd?: string
  /** A command that runs the command line behind it. */
  within?: readonly string[]
}

/** The real program as a process of its own. The environment is only what the test gives. */
export function startProgram(environment: Record<string, string>, options: Options = {}): Program {
  const { main = MAIN, args = ['start'], within = [], ...identity } = options
  const [command = process.execPath, ...rest] = [...within, process.execPath, main, ...args]
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(command, rest, {
    ...identity,
    env: { PATH, HOME, NODE_COMPILE_CACHE, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const output: Output = { stdout: '', stderr: '' }
  const listening = Promise.withResolvers<string>()
  child.stdout.setEncoding('utf8').on('data', text => {
    output.stdout += text
    const address = LISTENS.exec(output.stdout)?.[1]
    if (address !== undefined) listening.resolve(address)
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    output.stderr += text
  })
  const ended = once(child, 'close').then(([code]) => {
    listening.reject(new Error(`ended with ${code}: ${output.stderr}`))
    return { code, ...output }
  })
  listening.promise.catch(() => {})
  return { child, listening: listening.promise, ended, output }
}
