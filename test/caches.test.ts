import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { until } from './faults/until.ts'
import { createTestApp } from './support/app.ts'
import { freePort } from './support/free-port.ts'

// Debian's varnish as it is installed; the suite goes without it where there is none (apt-get install varnish).
const hasVarnish = spawnSync('varnishd', ['-V']).status === 0
const PASSWORD = 'nine lives and a piano'

/** A cache without configuration in front of a server. Answers its address. */
async function useVarnish(port: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-varnish-'))
  // It works as a user of its own, who has to get in.
  await chmod(folder, 0o755)
  const cachePort = await freePort()
  const address = `http://127.0.0.1:${cachePort}`
  const options = [
    '-F',
    '-n',
    folder,
    '-a',
    `127.0.0.1:${cachePort}`,
    '-b',
    `127.0.0.1:${port}`,
    '-s',
    'malloc,16m'
  ]
  const varnish = spawn('varnishd', options, { stdio: 'ignore' })
  const ended = once(varnish, 'close')
  onTestFinished(async () => {
    varnish.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  await until(
    'the cache answers',
    async () => (await fetch(`${address}/healthz`).catch(() => undefined)) !== undefined
  )
  return address
}

type Operations = Record<string, Record<string, unknown>>
type Caller = { name: string; headers: Record<string, string> }

test.skipIf(!hasVarnish)(
  'behind a cache as it is installed, no answer of one caller reaches another',
  async () => {
    const app = await createTestApp({
      CARTWRIGHT_ADMIN_EMAIL: 'boss@example.com',
      CARTWRIGHT_ADMIN_PASSWORD: PASSWORD
    })
    onTestFinished(() => app.close())
    await app.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.app.server.address() as AddressInfo
    const cache = await useVarnish(port)

    const tokenFrom = async (route: string, email: string) =>
      (await app.request('POST', `/api/auth/${route}`, { body: { email, password: PASSWORD } })).json
        .access_token
    const admin = await tokenFrom('login', 'boss@example.com')
    const product = { name: 'Mug', variants: [{ sku: 'MUG', price: 900 }] }
    const { json } = await app.request('POST', '/api/catalog/products', { token: admin, body: product })
    const line = { variant_id: json.variants[0].id, quantity: 1 }
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
    const guest = async () => {
      const { guest_cart_token } = (await app.request('POST', '/api/guest-cart', { body: line })).json
      return { 'x-guest-cart-token': guest_cart_token }
    }
    const callers: Caller[] = [
      { name: 'admin', headers: bearer(admin) },
      { name: 'ada', headers: bearer(await tokenFrom('register', 'ada@example.com')) },
      { name: 'bob', headers: bearer(await tokenFrom('register', 'bob@example.com')) },
      { name: 'a guest', headers: await guest() },
      { name: 'another guest', headers: await guest() },
      { name: 'nobody', headers: {} }
    ]

    const { paths } = (await app.request('GET', '/openapi.json')).json as { paths: Operations }
    const urls = Object.entries(paths)
      .filter(([, methods]) => 'get' in methods)
      .map(([path]) => path.replace(/\{\w+\}/g, json.id))
    expect(urls.length).toBeGreaterThan(10)
    const wrong: string[] = []
    for (const url of [
      ...urls,
      '/healthz',
      '/readyz',
      '/metrics',
      '/metricsz',
      `/api/cart/${randomUUID()}`
    ]) {
      for (const { name, headers } of [...callers, ...callers.toReversed()]) {
        const id = randomUUID()
        const answer = await fetch(cache + url, { headers: { ...headers, 'x-request-id': id } })
        await answer.arrayBuffer()
        const mayBeKept = answer.headers.get('cache-control')?.startsWith('public') === true
        // What was made for this very request names it. An answer that was kept names the one it was made for.
        if (!mayBeKept && answer.headers.get('x-request-id') !== id) wrong.push(`${url} for ${name}`)
      }
    }
    expect(wrong).toEqual([])
  }
)
