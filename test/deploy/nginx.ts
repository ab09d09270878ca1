import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '../faults/until.ts'
import { freePort } from '../support/free-port.ts'

const PROGRAM = 'nginx'
const CONFIG_FILE = fileURLToPath(new URL('../../deploy/compose/nginx.conf', import.meta.url))
const SERVER = /^ *server shop:8080 resolve(.*;)$/m

/** Whether tests can start nginx. */
export const hasNginx = spawnSync(PROGRAM, ['-v'], { stdio: 'ignore' }).status === 0
if (!hasNginx) console.warn('nginx is not installed, so a process of the shop is asked without it.')

/** Starts nginx with the configuration of the compose file, in front of the processes at `origins`. */
export async function startNginx(origins: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-nginx-'))
  const port = await freePort()
  // Names of containers are addresses here.
  const config = (await readFile(CONFIG_FILE, 'utf8'))
    .replace(SERVER, (_, options) =>
      origins.map(origin => `server ${new URL(origin).host}${options}`).join('\n')
    )
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
  const file = join(folder, 'nginx.conf')
  await writeFile(file, config)
  const globals = `daemon off; pid ${join(folder, 'nginx.pid')}; error_log stderr;`
  const child = spawn(PROGRAM, ['-c', file, '-g', globals], { stdio: 'ignore' })
  const ended = once(child, 'close')
  const origin = `http://127.0.0.1:${port}`
  await until('nginx answers', async () => (await fetch(`${origin}/healthz`)).ok)
  return {
    origin,
    close: async () => {
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true })
    }
  }
}
