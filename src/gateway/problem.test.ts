import { STATUS_CODES } from 'node:http'
import { expect, test } from 'vitest'
import { browse, moduleOf, useGateway, useSharedGateway } from '../../test/support/gateway.ts'
import { shareShops } from '../../test/support/shared-shops.ts'
import { defineError, type ErrorKind } from '../kernel/errors.ts'
import { Type } from '../kernel/schema.ts'

shareShops()

const statuses: [ErrorKind, number][] = [
  ['invalid', 400],
  ['unauthenticated', 401],
  ['forbidden', 403],
  ['not_found', 404],
  ['conflict', 409],
  ['stale', 412],
  ['reused_key', 422],
  ['rate_limited', 429],
  ['unavailable', 503]
]

/** Creates a gateway whose route `/api/x/<name>` runs the handler of this name. */
const failing = (handlers: Record<string, () => unknown>) =>
  useGateway({
    modules: [
      moduleOf('x', ['/api/x'], tiers => {
        for (const [name, handler] of Object.entries(handlers))
          tiers.public.get(`/x/${name}`, browse, handler)
      })
    ]
  })
const fails = (error: unknown) => () => Promise.reject(error)

test('each kind of domain error has its HTTP status, and a body of type, title, detail, code and request id', async () => {
  const gateway = await failing(
    Object.fromEntries(
      statuses.map(([kind]) => [
        kind,
        fails(defineError(kind, `X_${kind.toUpperCase()}`, `It is ${kind}.`)())
      ])
    )
  )
  for (const [kind, status] of statuses) {
    const answer = await gateway.request('GET', `/api/x/${kind}`)
    expect(answer.status).toBe(status)
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8')
    expect(answer.json).toEqual({
      type: 'about:blank',
      title: STATUS_CODES[status],
      status,
      detail: `It is ${kind}.`,
      code: `X_${kind.toUpperCase()}`,
      request_id: answer.headers['x-request-id']
    })
  }
})

test('a 401 response has WWW-Authenticate, and an error with a retry time has Retry-After', async () => {
  const gateway = await failing({
    who: fails(defineError('unauthenticated', 'X_WHO', 'Who?')()),
    later: fails(defineError('unavailable', 'X_LATER', 'Later.')({ retryAfterSeconds: 7 }))
  })
  expect((await gateway.request('GET', '/api/x/who')).headers['www-authenticate']).toBe('Bearer')
  expect((await gateway.request('GET', '/api/x/later')).headers['retry-after']).toBe('7')
})

test('error details become members of the problem document, and cannot replace the standard members', async () => {
  const details = {
    available: 3,
    type: 'evil',
    title: 'evil',
    status: 200,
    detail: 'evil',
    code: 'EVIL',
    request_id: 'evil'
  }
  const gateway = await failing({ fail: fails(defineError('conflict', 'X_SHORT', 'Too few.')({ details })) })
  const answer = await gateway.request('GET', '/api/x/fail')
  expect(answer.status).toBe(409)
  expect(answer.json).toEqual({
    type: 'about:blank',
    title: 'Conflict',
    status: 409,
    detail: 'Too few.',
    code: 'X_SHORT',
    request_id: answer.headers['x-request-id'],
    available: 3
  })
  expect(Object.keys(answer.json).slice(0, 3)).toEqual(['type', 'title', 'status'])
})

test.each([
  ['rejects', fails(new Error('the secret is 42'))],
  [
    'throws',
    () => {
      throw new TypeError('the secret is 42')
    }
  ],
  [
    'rejects with a status of its own',
    fails(Object.assign(new Error('the secret is 42'), { statusCode: 418 }))
  ]
])(
  "a bug that %s returns 500 without the error's text, and is logged once with the request",
  async (_how, handler) => {
    const gateway = await failing({ bug: handler })
    const answer = await gateway.request('GET', '/api/x/bug')
    expect(answer.status).toBe(500)
    expect(answer.json).toMatchObject({ code: 'INTERNAL', status: 500 })
    expect(answer.text).not.toContain('secret')
    const errors = gateway.log.filter(line => Number(line.level) >= 40)
    expect(errors).toHaveLength(1)
    expect(errors[0]).toMatchObject({
      level: 50,
      req_id: answer.headers['x-request-id'],
      err: { message: 'the secret is 42' }
    })
  }
)

test('a response that does not match its schema is reported as a bug: 500', async () => {
  const gateway = await useGateway({
    modules: [
      moduleOf('x', ['/api/x'], ({ public: open }) => {
        const response = { 200: Type.Object({ count: Type.Integer() }) }
        open.get('/x', { ...browse, schema: { response } }, async () => ({ count: 'secret' }) as never)
      })
    ]
  })
  const answer = await gateway.request('GET', '/api/x')
  expect(answer.status).toBe(500)
  expect(answer.json).toMatchObject({ code: 'INTERNAL' })
  expect(answer.text).not.toContain('secret')
})

test('an unavailable dependency is logged with its cause, and overload is not logged', async () => {
  const down = defineError('unavailable', 'X_DOWN', 'Down.')
  const gateway = await failing({
    down: fails(down({ cause: new Error('connection refused') })),
    busy: fails(down())
  })
  await gateway.request('GET', '/api/x/busy')
  expect(gateway.log.filter(line => line.level !== 30)).toEqual([])
  await gateway.request('GET', '/api/x/down')
  expect(gateway.log.filter(line => line.level !== 30)).toMatchObject([{ level: 40, msg: 'X_DOWN' }])
})

test('every request is one log line, with its route pattern, status, duration, caller and trace', async () => {
  const gateway = await useGateway({
    modules: [
      moduleOf('x', ['/api/x'], tiers => tiers.secured.get('/x/:id', browse, async () => ({ ok: true })))
    ]
  })
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  await gateway.request('GET', '/api/x/1', { token: 'customer-7', headers: { traceparent } })
  await gateway.request('GET', '/nowhere')
  const lines = gateway.log.filter(line => line.level === 30)
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatchObject({
    method: 'GET',
    route: '/api/x/:id',
    status: 200,
    user: '7',
    caller: 'customer',
    trace: traceparent
  })
  expect(lines[0]?.ms).toBeGreaterThan(0)
  expect(lines[1]).toMatchObject({ route: 'unknown', status: 404 })
  expect(lines[1]).not.toHaveProperty('trace')
})

test.each([
  '',
  'x'.repeat(60_000),
  '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more',
  '00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01',
  '00-00000000000000000000000000000000-00f067aa0ba902b7-01',
  '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01',
  'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0'
])('an invalid traceparent is not logged (%.70s)', async traceparent => {
  const gateway = await useSharedGateway()
  const before = gateway.log.length
  await gateway.request('GET', '/nowhere', { headers: { traceparent } })
  const lines = gateway.log.slice(before)
  expect(lines.filter(line => line.level === 30)).toHaveLength(1)
  expect(JSON.stringify(lines)).not.toContain('"trace"')
})
