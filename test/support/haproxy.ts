import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBalancer } from './balancer.ts'
import { freePort } from './free-port.ts'

const PROGRAM = 'haproxy'

const hasHaproxy = (): boolean => spawnSync(PROGRAM, ['-v'], { stdio: 'ignore' }).status === 0

/**
 * HAProxy in front of the processes at `addresses`, as in docs/proxy.md. It checks `/readyz` every 200 ms, takes a process
 * out after two failed checks, and never sends a request to two processes. When none is ready, it uses those that are alive.
 */
export async function startHaproxy(addresses: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-haproxy-'))
  const port = await freePort()
  const servers = [
    '  default-server inter 200ms fall 2 rise 1',
    ...addresses.map((address, index) => `  server shop${index} ${new URL(address).host} check`)
  ]
  const lines = [
    'defaults',
    '  mode http',
    '  timeout connect 1s',
    '  timeout client 30s',
    '  timeout server 30s',
    '  timeout check 5s',
    '  retries 0',
    'frontend public',
    `  bind 127.0.0.1:${port}`,
    '  use_backend shop_not_ready if { nbsrv(shop) eq 0 }',
    '  default_backend shop',
    'backend shop',
    '  option httpchk GET /readyz',
    ...servers,
    'backend shop_not_ready',
    '  option httpchk GET /healthz',
    ...servers
  ]
  const file = join(folder, 'haproxy.cfg')
  await writeFile(file, `${lines.join('\n')}\n`)
  const child = spawn(PROGRAM, ['-db', '-f', file], { stdio: 'ignore' })
  const ended = once(child, 'close')
  return {
    origin: `http://127.0.0.1:${port}`,
    close: async () => {
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true })
    }
  }
}

/** HAProxy in front of the processes at `addresses`, or the tests' stand-in on machines without it. Says which. */
export async function startHaproxyOrStandIn(addresses: readonly string[]) {
  if (hasHaproxy()) return { name: PROGRAM, ...(await startHaproxy(addresses)) }
  const balancer = await startBalancer()
  balancer.use([...addresses])
  console.warn('HAProxy is not installed, so this test uses the stand-in of the tests.')
  return { name: 'the stand-in of the tests', ...balancer }
}
