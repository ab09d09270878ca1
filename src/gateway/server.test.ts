import { beforeAll, expect, test } from 'vitest'
import {
  browse,
  moduleOf,
  type TestGateway,
  useGateway,
  useSharedGateway
} from '../../test/support/gateway.ts'
import { shareShops } from '../../test/support/shared-shops.ts'
import { OperatorError } from '../kernel/errors.ts'
import { Type } from '../kernel/schema.ts'
import type { Tiers } from './routing/tiers.ts'

shareShops()

/** Echoes requests. */
const echo = moduleOf('x', ['/api/x'], ({ public: open, secured }) => {
  open.post('/x', browse, async request => ({ body: request.body ?? null }))
  open.get('/x', browse, async () => ({ ok: true }))
  open.delete('/x', browse, async () => ({ ok: true }))
  open.get('/x/:id', browse, async request => ({ id: (request.params as { id: string }).id }))
  open.put('/x/:id/y', browse, async () => ({ ok: true }))
  secured.get('/x/secret', browse, async () => ({ ok: true }))
})

let gateway: TestGateway
beforeAll(async () => {
  gateway = await useSharedGateway({ modules: [echo] })
})

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

test.each([['abc-123'], ['a'.repeat(128)], ['0af7651916cd43dd:b7ad6b7169203331:0:1'], ['v1.2_3']])(
  'the request id %s sent by the client is kept',
  async id => {
    const answer = await gateway.request('GET', '/api/x', { headers: { 'x-request-id': id } })
    expect(answer.headers['x-request-id']).toBe(id)
    expect(gateway.log.at(-1)?.req_id).toBe(id)
  }
)

test.each([
  ['a'.repeat(129)],
  [''],
  ['a b'],
  ['a\tb'],
  ['<script>'],
  ['a,b'],
  ['é'],
  ['a"b'],
  ['%0d%0aset-cookie:x']
])('the invalid request id %j sent by the client is replaced by a new one', async id => {
  const answer = await gateway.request('GET', '/api/x', { headers: { 'x-request-id': id } })
  expect(answer.headers['x-request-id']).toMatch(UUID)
})

test('every response has a request id: successes, errors, unknown routes and diagnostics', async () => {
  for (const path of [
    '/api/x',
    '/api/x/secret',
    '/api/none',
    '/healthz',
    '/%E0%A4%A',
    `/api/x/${'a'.repeat(300)}`
  ]) {
    expect((await gateway.request('GET', path)).headers['x-request-id'], path).toMatch(UUID)
  }
})

test.each([
  ['PATCH', '/api/x', 'DELETE, GET, HEAD, POST'],
  ['OPTIONS', '/api/x', 'DELETE, GET, HEAD, POST'],
  ['PROPFIND', '/api/x', 'DELETE, GET, HEAD, POST'],
  ['QUERY', '/api/x', 'DELETE, GET, HEAD, POST'],
  ['POST', '/api/x/7?a=/b', 'GET, HEAD'],
  ['HEAD', '/api/x/7/y', 'PUT'],
  ['POST', '/api/x/secret', 'GET, HEAD'],
  ['POST', '/healthz', 'GET, HEAD']
])('a request with an unsupported method, %s %s, returns 405 with Allow', async (method, path, allow) => {
  const answer = await gateway.request(method, path)
  expect(answer.status).toBe(405)
  expect(answer.headers.allow).toBe(allow)
  if (method === 'HEAD') expect(answer.text).toBe('')
  else expect(answer.json).toMatchObject({ status: 405, code: 'METHOD_NOT_ALLOWED' })
})

test.each([
  '/',
  '/api',
  '/api/',
  '/api/none',
  '/api/x/7/',
  '//api/x',
  '/api//x',
  '/api%2Fx',
  '/API/x',
  '/api/x;a=1',
  '/healthz/',
  '/api/x/7/y/z',
  '/__proto__'
])('a request to the unknown path %s gets 404 for every method and body', async path => {
  for (const method of ['GET', 'POST', 'OPTIONS', 'PROPFIND']) {
    const answer = await gateway.request(method, path)
    expect(answer.status, method).toBe(404)
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8')
    expect(answer.json).toMatchObject({ status: 404, code: 'ROUTE_NOT_FOUND' })
  }
  const head = await gateway.request('HEAD', path)
  expect([head.status, head.text]).toEqual([404, ''])
  const malformed = await gateway.request('POST', path, { body: '{"a":' })
  expect(malformed.json).toMatchObject({ code: 'ROUTE_NOT_FOUND' })
  const large = await gateway.request('POST', path, { body: 'x'.repeat(2_000_000) })
  expect(large.json).toMatchObject({ code: 'ROUTE_NOT_FOUND' })
})

test('the log line of a request without a route has its path, shortened and without the query', async () => {
  const pathLogged = async (method: string, target: string) => {
    await gateway.request(method, target)
    return gateway.log.at(-1)
  }
  expect(await pathLogged('GET', '/api/noth%69ng?token=geheim')).toMatchObject({
    status: 404,
    route: 'unknown',
    path: '/api/nothing'
  })
  expect((await pathLogged('GET', '/api/%E0%A4%A?token=geheim'))?.path).toBe('/api/%E0%A4%A')
  expect((await pathLogged('GET', `/${'x'.repeat(5_000)}?token=geheim`))?.path).toBe(`/${'x'.repeat(255)}`)
  expect(await pathLogged('GET', '/api/x/7')).not.toHaveProperty('path')
  expect(JSON.stringify(gateway.log)).not.toContain('geheim')
})

test('a dot segment or an encoded slash in a path parameter is kept as data', async () => {
  expect((await gateway.request('GET', '/api/x/a%2F..%2Fb')).json).toEqual({ id: 'a/../b' })
  expect((await gateway.request('GET', '/api/x/..')).status).not.toBe(500)
})

test.each(['/api/%E0%A4%A', '/api/x/%', '/api/x/%zz', '/%', '/api/x/%C0%AF', '/api/x/%ff'])(
  'a request for the malformed URL %s gets 400',
  async path => {
    const answer = await gateway.request('GET', path)
    expect(answer.status).toBe(400)
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8')
    expect(answer.json).toMatchObject({ status: 400, code: 'MALFORMED_REQUEST' })
    expect(gateway.log.at(-1)).toMatchObject({ status: 400, req_id: answer.headers['x-request-id'] })
  }
)

test('a path parameter of 256 characters is accepted, a longer one gets 414', async () => {
  expect((await gateway.request('GET', `/api/x/${'a'.repeat(256)}`)).status).toBe(200)
  const answer = await gateway.request('GET', `/api/x/${'a'.repeat(257)}`)
  expect(answer.status).toBe(414)
  expect(answer.json).toMatchObject({ code: 'URI_TOO_LONG' })
})

test('a request body of the maximum size is read, a larger one gets 413', async () => {
  const gateway = await useGateway({
    modules: [echo],
    settings: { CARTWRIGHT__SERVER__BODY_BYTES_MAX: '2048' }
  })
  const bodyOf = (bytes: number) => `"${'a'.repeat(bytes - 2)}"`
  expect((await gateway.request('POST', '/api/x', { body: bodyOf(2_048) })).status).toBe(200)
  const answer = await gateway.request('POST', '/api/x', { body: bodyOf(2_049) })
  expect(answer.status).toBe(413)
  expect(answer.json).toMatchObject({ status: 413, code: 'BODY_TOO_LARGE', bytes_max: 2_048 })
})

test.each([
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'application/json; charset="utf-8"',
  'Application/JSON ; Charset=utf8',
  'application/merge-patch+json',
  'application/json; version=1',
  'application/json; version=1; charset=utf-8'
])('a JSON body sent with the content type %s is read', async type => {
  const answer = await gateway.request('POST', '/api/x', {
    body: '{"ä":1}',
    headers: { 'content-type': type }
  })
  expect(answer.status).toBe(200)
  expect(answer.json).toEqual({ body: { ä: 1 } })
})

test.each([
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'text/json',
  'application/jsonp',
  'application/json-seq',
  'application/json; charset=latin1',
  'application/json; charset="utf-16"',
  'application/json; version=1; charset=iso-8859-1',
  'json',
  'application/',
  ';',
  '*/*'
])('a body sent with the content type %s gets 415', async type => {
  const answer = await gateway.request('POST', '/api/x', {
    body: '{"a":1}',
    headers: { 'content-type': type }
  })
  expect(answer.status).toBe(415)
  expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8')
  expect(answer.json).toMatchObject({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
})

test('a body without a content type gets 415, and an empty body needs none', async () => {
  const bare = await gateway.app.inject({ method: 'POST', url: '/api/x', payload: Buffer.from('{}') })
  expect(bare.statusCode).toBe(415)
  expect((await gateway.request('POST', '/api/x')).json).toEqual({ body: null })
  const headers = { 'content-type': 'application/json' }
  expect((await gateway.request('DELETE', '/api/x', { headers })).status).toBe(200)
})

test('malformed JSON gets 400 with the reason', async () => {
  const answer = await gateway.request('POST', '/api/x', { body: '{"a":1,"a":2}' })
  expect(answer.status).toBe(400)
  expect(answer.json).toMatchObject({ code: 'MALFORMED_JSON', reason: 'an object has the same key twice' })
})

test('HEAD works on every GET route, and returns the same headers and no body', async () => {
  for (const path of ['/api/x', '/api/x/7', '/healthz', '/readyz', '/metricsz', '/openapi.json', '/docs']) {
    const [get, head] = [await gateway.request('GET', path), await gateway.request('HEAD', path)]
    expect([head.status, head.text], path).toEqual([get.status, ''])
    expect(head.headers['content-type'], path).toBe(get.headers['content-type'])
  }
  expect((await gateway.request('HEAD', '/api/x/secret')).status).toBe(401)
})

test('a module that mounts a route outside its base paths, or without a tier, prevents the start', async () => {
  const starting = useGateway({
    modules: [
      moduleOf('x', ['/api/x'], tiers => {
        tiers.public.get('/y', browse, async () => ({}))
        tiers.wellKnown.get('/api/x/open', browse, async () => ({}))
        tiers.wellKnown.get('/.well-known/x', browse, async () => ({}))
        tiers.wellKnown.get('/x', browse, async () => ({}))
      }),
      moduleOf('deep', ['/api/x/deep'], tiers => tiers.public.get('/x/deep/a', browse, async () => ({})))
    ]
  })
  const error = await starting.catch(reason => reason)
  expect(error).toBeInstanceOf(OperatorError)
  expect(error.message.split('\n').slice(1)).toEqual([
    '  module x mounts /api/y, which is outside its base paths',
    '  module x mounts /x, which is outside its base paths',
    '  module x mounts /api/x/open without a tier',
    '  module x mounts /x without a tier'
  ])
})

test('a module can only add routes to a tier, so none of its plugins, parsers or hooks bypasses the checks', async () => {
  let tiers: Tiers | undefined
  const take = (given: Tiers) => {
    tiers = given
  }
  await useGateway({ modules: [moduleOf('x', ['/api/x'], take)] })
  for (const tier of Object.values(tiers ?? {}))
    expect(Object.keys(tier)).toEqual(['get', 'post', 'put', 'patch', 'delete'])
  expect(Object.keys(tiers ?? {}).sort()).toEqual(['admin', 'public', 'secured', 'wellKnown'])
})

test('a route without a request class does not compile, and prevents the start', async () => {
  const starting = useGateway({
    modules: [
      moduleOf('x', ['/api/x'], tiers => {
        // @ts-expect-error: the class is missing
        tiers.public.get('/x/a', {}, async () => ({}))
        // @ts-expect-error: the class is missing
        tiers.admin.post('/x/:id/b', { config: { limit: { name: 'a', perMinute: 1 } } }, async () => ({}))
        // @ts-expect-error: an unknown class
        tiers.public.get('/x/c', { config: { class: 'brows' } }, async () => ({}))
      })
    ]
  })
  const error = await starting.catch(reason => reason)
  expect(error).toBeInstanceOf(OperatorError)
  expect(error.message.split('\n').slice(1)).toEqual([
    '  route /api/x/a has no class',
    '  route /api/x/:id/b has no class'
  ])
})

test('a route whose body schema has no maxima prevents the start, and the error names the fields', async () => {
  const body = Type.Object(
    {
      name: Type.String(),
      tags: Type.Array(Type.String({ maxLength: 10 })),
      note: Type.String({ maxLength: 10 })
    },
    { additionalProperties: false }
  )
  const starting = useGateway({
    modules: [
      moduleOf('x', ['/api/x'], tiers =>
        tiers.public.post(
          '/x/:id',
          { config: { class: 'account' }, schema: { summary: 'X', body } },
          async () => ({})
        )
      )
    ]
  })
  const error = await starting.catch(reason => reason)
  expect(error).toBeInstanceOf(OperatorError)
  expect(error.message.split('\n').slice(1)).toEqual([
    '  POST /api/x/:id takes a body without a maximum: body/name needs maxLength',
    '  POST /api/x/:id takes a body without a maximum: body/tags needs maxItems'
  ])
})

test('starting the gateway prints no warning', async () => {
  const warnings: unknown[] = []
  const listen = (warning: Error) => warnings.push(warning.message)
  process.on('warning', listen)
  await useGateway({ modules: [echo, moduleOf('off', ['/api/off'], undefined, false)] })
  await new Promise(setImmediate)
  process.off('warning', listen)
  expect(warnings).toEqual([])
})

test('a NUL character in a URL gets 400', async () => {
  for (const path of ['/api/x/a%00b', '/api/x?q=%00', '/api/none/%00']) {
    const answer = await gateway.request('GET', path)
    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({ code: 'NUL_IN_URL' })
  }
})
