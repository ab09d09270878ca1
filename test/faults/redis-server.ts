import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'

const PROGRAM = 'redis-server'
const START_MS_MAX = 10_000
const POLL_MS = 10

export type RedisServer = {
  readonly port: number
  start(): Promise<void>
  kill(): Promise<void>
  /** Stops it from answering, or lets it go on. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
}

/** A `redis-server` of its own for one test, on a free port, not started yet. */
export async function useRedisServer(...options: string[]): Promise<RedisServer> {
  const port = await freePort()
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
  onTestFinished(kill)
  return { port, start, kill, signal: name => server?.kill(name) }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
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
