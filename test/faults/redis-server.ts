import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { fixedPort } from './fixed-port.ts'

const PROGRAM = 'redis-server'
const START_MS_MAX = 10_000
const POLL_MS = 10

export type RedisServer = {
  readonly port: number
  start(): Promise<void>
  kill(): Promise<void>
  /** Suspends the server, or lets it continue. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
}

/** A `redis-server` of its own for one test, on a free port, not started yet. */
export async function useRedisServer(...options: string[]): Promise<RedisServer> {
  const server = await createRedisServer(...options)
  onTestFinished(server.kill)
  return server
}

/** Stays the same object after restarts, so the test can kill the last process. */
export async function createRedisServer(...options: string[]): Promise<RedisServer> {
  const port = await fixedPort()
  let server: ReturnType<typeof spawn> | undefined
  const start = async () => {
    const where = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', '/tmp']
    server = spawn(PROGRAM, [...where, ...options], { stdio: 'ignore' })
    const deadline = performance.now() + START_MS_MAX
    while (!(await listens(port))) {
      if (performance.now() > deadline) throw new Error(`${PROGRAM} does not start`)
      await delay(POLL_MS)
    }
  }
  const kill = async () => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill('SIGKILL')
    await exited
  }
  return { port, start, kill, signal: name => server?.kill(name) }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
