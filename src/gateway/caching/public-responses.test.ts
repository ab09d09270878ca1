import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import { moduleOf, useGateway } from '../../../test/support/gateway.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'

shareShops()

/** Compressions in total, now running, and at most running simultaneously. */
const compressions = vi.hoisted(() => ({ all: 0, now: 0, most: 0 }))
vi.mock('node:zlib', async importOriginal => {
  const zlib = await importOriginal<typeof import('node:zlib')>()
  const gzip = (text: string, done: (error: Error | null, bytes: Buffer) => void) => {
    compressions.all += 1
    compressions.now += 1
    compressions.most = Math.max(compressions.most, compressions.now)
    zlib.gzip(text, (error, bytes) => {
      compressions.now -= 1
      done(error, bytes)
    })
  }
  return { ...zlib, gzip }
})

const shared = { config: { class: 'browse', cache: 'public' } } as const
const LONG = {
  items: Array.from({ length: 60 }, (_, index) => ({ id: index, name: `Café ${index}`, price: 1_250 }))
}
const text = (value: unknown) => JSON.stringify(value)

type Reply = { status: number; headers: IncomingHttpHeaders; body: Buffer }

/** Starts a gateway with a short and a long public response that show `content`. */
async function useShared(own: Record<string, unknown> = {}) {
  const content: Record<string, unknown> = { short: { a: 1 }, long: LONG, ...own }
  const gateway = await useGateway({
    modules: [
      moduleOf('x', ['/api/x'], tiers => {
        for (const name of ['short', 'long'])
          tiers.public.get(`/x/${name}`, shared, async () => content[name])
        tiers.public.get('/x/own', { config: { class: 'browse' } }, async () => LONG)
        tiers.public.get('/x/absent', shared, async (_request, reply) => reply.code(404).send(LONG))
        tiers.secured.get('/x/mine', { config: { class: 'browse' } }, async () => LONG)
      })
    ]
  })
  const port = await gateway.listen()
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<Reply>((resolve, reject) => {
      const request = httpRequest({ port, host: '127.0.0.1', path, method, headers, agent: false })
      request.on('error', reject)
      request.on('response', response => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks)
          })
        )
      })
      request.end()
    })
  return { ask, content }
}

test('a client whose cached response is current gets 304, until the content changes', async () => {
  const { ask, content } = await useShared()
  const first = await ask('/api/x/short')
  expect(first.status).toBe(200)
  const etag = String(first.headers.etag)
  expect(etag).toMatch(/^"[\w-]{22}"$/)

  for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const again = await ask('/api/x/short', { 'if-none-match': condition })
    expect(again.status, condition).toBe(304)
    expect(again.body, condition).toHaveLength(0)
    expect(again.headers).toMatchObject({
      etag,
      'cache-control': 'public, max-age=0, stale-if-error=300',
      vary: first.headers.vary
    })
    expect(again.headers['content-type']).toBeUndefined()
    expect(again.headers['content-length']).toBeUndefined()
  }
  content.short = { a: 2 }
  const changed = await ask('/api/x/short', { 'if-none-match': etag })
  expect(changed.status).toBe(200)
  expect(changed.body.toString()).toBe(text({ a: 2 }))
  expect(changed.headers.etag).not.toBe(etag)
})

test('HEAD has the headers of GET, and also returns 304 for a current response', async () => {
  const { ask } = await useShared()
  for (const path of ['/api/x/short', '/api/x/long']) {
    for (const encoding of ['identity', 'gzip']) {
      const accept = { 'accept-encoding': encoding }
      const got = await ask(path, accept)
      const { etag, vary, 'content-length': length, 'content-encoding': coding } = got.headers
      const head = await ask(path, accept, 'HEAD')
      expect(head.status).toBe(200)
      expect(head.headers).toMatchObject({ etag, vary, 'content-length': length })
      expect(head.headers['content-encoding']).toBe(coding)
      const known = await ask(path, { ...accept, 'if-none-match': String(etag) }, 'HEAD')
      expect(known.status).toBe(304)
      expect(known.headers.etag).toBe(etag)
      expect([undefined, length]).toContain(known.headers['content-length'])
    }
  }
})

test('a long response is compressed for clients that accept gzip, with its own ETag', async () => {
  const { ask } = await useShared()
  const plain = await ask('/api/x/long')
  const packed = await ask('/api/x/long', { 'accept-encoding': 'gzip, deflate, br' })
  expect(plain.headers['content-encoding']).toBeUndefined()
  expect(plain.body.toString()).toBe(text(LONG))
  expect(packed.headers).toMatchObject({
    'content-encoding': 'gzip',
    'content-type': plain.headers['content-type'],
    'content-length': String(packed.body.length),
    vary: expect.stringContaining('Accept-Encoding')
  })
  expect(gunzipSync(packed.body).toString()).toBe(text(LONG))
  expect(packed.body.length).toBeLessThan(plain.body.length / 3)
  expect(packed.headers.etag).not.toBe(plain.headers.etag)

  const known = (headers: Record<string, string>) => ask('/api/x/long', headers).then(({ status }) => status)
  const [plainTag, packedTag] = [String(plain.headers.etag), String(packed.headers.etag)]
  expect(await known({ 'if-none-match': packedTag, 'accept-encoding': 'gzip' })).toBe(304)
  expect(await known({ 'if-none-match': plainTag, 'accept-encoding': 'gzip' })).toBe(200)
  expect(await known({ 'if-none-match': packedTag })).toBe(200)
  expect(await known({ 'if-none-match': plainTag })).toBe(304)
})

test('short, private and error responses are not compressed', async () => {
  const { ask } = await useShared()
  const paths = ['/api/x/short', '/api/x/own', '/api/x/absent', '/api/x/mine']
  for (const path of paths) {
    const { headers } = await ask(path, { 'accept-encoding': 'gzip', authorization: 'Bearer customer-1' })
    expect(headers['content-encoding'], path).toBeUndefined()
    if (path !== '/api/x/short') expect(headers.etag, path).toBeUndefined()
  }
})

test('a public response is compressed once for many requests', async () => {
  const { ask } = await useShared()
  const before = compressions.all
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => ask('/api/x/long', { 'accept-encoding': 'gzip' }))
  )
  for (const { body } of answers) expect(gunzipSync(body).toString()).toBe(text(LONG))
  expect(new Set(answers.map(({ headers }) => headers.etag)).size).toBe(1)
  const etag = String(answers[0]?.headers.etag)
  expect((await ask('/api/x/long', { 'accept-encoding': 'gzip', 'if-none-match': etag })).status).toBe(304)
  expect(compressions.all - before).toBe(1)
})

test('of many different responses requested simultaneously some are sent uncompressed, and all are correct', async () => {
  const { ask, content } = await useShared()
  const numbers = Array.from({ length: 40 }, (_, index) => index)
  const left = [...numbers]
  Object.defineProperty(content, 'long', { get: () => ({ ...LONG, number: left.pop() }) })
  const answers = await Promise.all(numbers.map(() => ask('/api/x/long', { 'accept-encoding': 'gzip' })))
  const got = answers.map(({ headers, body }) => {
    const plain = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
    return JSON.parse(plain.toString()).number
  })
  expect(got.sort((a, b) => a - b)).toEqual(numbers)
  expect(compressions.most).toBeLessThanOrEqual(4)
})
