import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../faults/until.ts'
import { freePort } from './free-port.ts'

/** Whether Debian's Varnish is installed (apt-get install varnish). Tests that need it are skipped without it. */
export const hasVarnish = spawnSync('varnishd', ['-V']).status === 0
if (!hasVarnish) console.warn('Varnish is not installed, so tests of shared caches are skipped.')

/** Varnish in front of the shop at `port`, with the default rules or with those of `vcl`, in which the shop has port 8080. */
export async function startVarnish(port: number, vcl?: string) {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-varnish-'))
  // It runs as another user, who needs access.
  await chmod(folder, 0o755)
  const rules = join(folder, 'rules.vcl')
  if (vcl !== undefined) await writeFile(rules, vcl.replace('"8080"', `"${port}"`))
  const [address, purgeAddress] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const options = [
    ...['-F', '-n', folder, '-s', 'malloc,16m'],
    ...['-a', address, '-a', `purge=${purgeAddress}`],
    ...(vcl === undefined ? ['-b', `127.0.0.1:${port}`] : ['-f', rules]),
    // A connection that it closes while a request is sent over it fails that request.
    ...['-p', 'timeout_idle=3600']
  ]
  const varnish = spawn('varnishd', options, { stdio: 'ignore' })
  const ended = once(varnish, 'close')
  const cache = {
    origin: `http://${address}`,
    purgeOrigin: `http://${purgeAddress}`,
    close: async () => {
      varnish.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    }
  }
  await until('the cache responds', () => fetch(`${cache.origin}/healthz`).then(() => true))
  return cache
}

/** Whether the response came from the cache: Varnish then names two requests. */
export const isHit = ({ headers }: Response): boolean => headers.get('x-varnish')?.includes(' ') === true
