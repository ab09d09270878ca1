import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { browse, moduleOf, openGateway, type TestGateway } from '../../../test/support/gateway.ts'
import { Type } from '../../kernel/schema.ts'
import { nullable, Time } from '../../kernel/wire.ts'
import { compileSerializer } from './validation.ts'

const strict = { additionalProperties: false }
const schema = {
  body: Type.Object(
    {
      n: Type.Integer({ minimum: 0 }),
      s: Type.Optional(Type.String({ maxLength: 3 })),
      b: Type.Optional(Type.Boolean()),
      uuid: Type.Optional(Type.Union([Type.String({ format: 'uuid' }), Type.Null()])),
      uuids: Type.Optional(
        Type.Array(Type.Object({ at: Type.String({ format: 'uuid' }) }, strict), { maxItems: 50 })
      ),
      list: Type.Optional(Type.Array(Type.Object({ n: Type.Integer() }, strict), { maxItems: 50 }))
    },
    strict
  ),
  querystring: Type.Object(
    {
      limit: Type.Optional(Type.Integer({ maximum: 100 })),
      price: Type.Optional(Type.Number()),
      on: Type.Optional(Type.Boolean()),
      tag: Type.Optional(Type.Array(Type.String(), { maxItems: 3 })),
      ids: Type.Optional(Type.Array(Type.Integer())),
      q: Type.Optional(Type.String())
    },
    strict
  ),
  params: Type.Object({ id: Type.Integer() }),
  headers: Type.Object({ 'x-count': Type.Optional(Type.Integer({ minimum: 1 })) })
}
type Sent = { n: number; 'x-count'?: string }
let seen: unknown
let gateway: TestGateway
beforeAll(async () => {
  const typed = moduleOf('x', ['/api/x'], ({ public: open }) => {
    open.post('/x/:id', { ...browse, schema }, async request => {
      seen = { ...request.params, ...request.query, ...request.body }
      return {}
    })
  })
  gateway = await openGateway({ modules: [typed] })
})
beforeEach(() => {
  seen = undefined
})
afterAll(() => gateway.close())

const post = (path: string, body: unknown) => gateway.request('POST', path, { body })

test.each([
  ['/api/x/7', { id: 7, n: 1 }],
  ['/api/x/-7?limit=5&on=true&price=1.50', { id: -7, n: 1, limit: 5, on: true, price: 1.5 }],
  ['/api/x/7?on=false', { id: 7, n: 1, on: false }],
  ['/api/x/7?tag=a', { id: 7, n: 1, tag: ['a'] }],
  ['/api/x/7?tag=1&tag=b', { id: 7, n: 1, tag: ['1', 'b'] }],
  ['/api/x/7?ids=1&ids=2', { id: 7, n: 1, ids: [1, 2] }],
  ['/api/x/7?q=5', { id: 7, n: 1, q: '5' }],
  ['/api/x/7?q=', { id: 7, n: 1, q: '' }],
  ['/api/x/7?q=%F0%9F%98%80+x', { id: 7, n: 1, q: '😀 x' }]
])('the parameters of %s are converted to the types of their schema', async (path, expected) => {
  expect((await post(path, { n: 1 })).status).toBe(200)
  expect(seen).toEqual(expected)
})

test.each([
  '/api/x/seven',
  '/api/x/1.5',
  '/api/x/0x10',
  '/api/x/1e3',
  '/api/x/%20',
  '/api/x/99999999999999999999',
  '/api/x/7?limit=',
  '/api/x/7?limit=many',
  '/api/x/7?limit=true',
  '/api/x/7?limit=1.5',
  '/api/x/7?limit=101',
  '/api/x/7?limit=Infinity',
  '/api/x/7?limit=1&limit=2',
  '/api/x/7?on=yes',
  '/api/x/7?on=1',
  '/api/x/7?tag=a&tag=b&tag=c&tag=d',
  '/api/x/7?ids=1&ids=x',
  '/api/x/7?unknown=1',
  '/api/x/7?__proto__=1',
  '/api/x/7?constructor=1'
])('the request %s has an invalid parameter and gets 400', async path => {
  const answer = await post(path, { n: 1 })
  expect(answer.status).toBe(400)
  expect(answer.json.code).toBe('VALIDATION_FAILED')
  expect(seen).toBeUndefined()
})

test.each([
  [{ n: '1' }, 'body/n'],
  [{ n: 1.5 }, 'body/n'],
  [{ n: true }, 'body/n'],
  [{ n: null }, 'body/n'],
  [{ n: -1 }, 'body/n'],
  [{ n: [1] }, 'body/n'],
  [{ n: 1, s: 2 }, 'body/s'],
  [{ n: 1, s: 'long' }, 'body/s'],
  [{ n: 1, b: 'true' }, 'body/b'],
  [{ n: 1, b: 0 }, 'body/b'],
  [{ n: 1, list: { n: 1 } }, 'body/list'],
  [{ n: 1, list: [{ n: 1 }, { n: '2' }] }, 'body/list/1/n'],
  [{ n: 1, extra: 1 }, 'body/extra'],
  [{ n: 1, constructor: 1 }, 'body/constructor'],
  [{ n: 1, list: [{ n: 1, 'a/b~c': 1 }] }, 'body/list/0/a~1b~0c'],
  [{}, 'body/n'],
  [[], 'body'],
  ['text', 'body'],
  [7, 'body']
])('a body %j has a member of the wrong type, which is not converted: 400, naming %s', async (body, path) => {
  const answer = await post('/api/x/7', typeof body === 'string' ? JSON.stringify(body) : body)
  expect(answer.status).toBe(400)
  expect(answer.json).toMatchObject({ code: 'VALIDATION_FAILED', status: 400 })
  expect(answer.json.errors).toEqual([{ path, message: expect.stringMatching(/./) }])
  expect(seen).toBeUndefined()
})

test('a request without a body is validated as an empty object', async () => {
  const answer = await gateway.request('POST', '/api/x/7')
  expect([answer.status, answer.json.errors]).toEqual([400, [{ path: 'body/n', message: 'is required' }]])
  expect((await gateway.request('POST', '/api/x/7', { body: 'null' })).json.errors).toEqual([
    { path: 'body', message: 'must be an object' }
  ])
})

test.each([
  ['/api/x/7', { n: -1 }, 'body/n', 'must be a whole number of 0 or more'],
  ['/api/x/7?limit=many', { n: 1 }, 'query/limit', 'must be a whole number of 100 or less'],
  ['/api/x/7?ids=1&ids=x', { n: 1 }, 'query/ids/1', 'must be a whole number'],
  ['/api/x/7?unknown=1', { n: 1 }, 'query/unknown', 'is not known here'],
  ['/api/x/seven', { n: 1 }, 'params/id', 'must be a whole number'],
  ['/api/x/7', { n: 1, 'x-count': '0' }, 'headers/x-count', 'must be a whole number of 1 or more']
])(
  'the request %s with %j is rejected with an error whose path is %s',
  async (path, { 'x-count': header, ...body }: Sent, at, message) => {
    const headers = header === undefined ? {} : { 'x-count': header }
    const answer = await gateway.request('POST', path, { body, headers })
    expect([answer.status, answer.json.errors]).toEqual([400, [{ path: at, message }]])
  }
)

test('validation errors name unknown and missing properties', async () => {
  const { json } = await post('/api/x/7', { m: 1 })
  expect(json.errors).toContainEqual({ path: 'body/m', message: 'is not known here' })
  expect(json.errors).toContainEqual({ path: 'body/n', message: 'is required' })
})

test('the list of validation errors and the length of its paths are bounded', async () => {
  const wrong = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key${index}`, index]))
  const many = await post('/api/x/7', { n: 1, ...wrong, list: Array(50).fill({ n: 'x' }) })
  expect(many.json.errors.length).toBeLessThanOrEqual(8)
  expect(many.json.errors.length).toBeGreaterThan(0)
  const long = await post('/api/x/7', { n: 1, ['x'.repeat(3_000)]: 1 })
  expect(long.status).toBe(400)
  expect(long.text.length).toBeLessThan(1_000)
})

test('ids in a request become lower case at any depth, and nothing else changes', async () => {
  const [upper, lower] = ['0198A6F3-5A0E-7C1B-9D2E-3F4A5B6C7D8E', '0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d8e']
  const send = (body: unknown) => gateway.request('POST', '/api/x/1', { body })
  expect((await send({ n: 1, s: 'AbC', uuid: upper, uuids: [{ at: upper }, { at: lower }] })).status).toBe(
    200
  )
  expect(seen).toEqual({ id: 1, n: 1, s: 'AbC', uuid: lower, uuids: [{ at: lower }, { at: lower }] })
  expect((await send({ n: 1, uuid: null })).status).toBe(200)
  expect(seen).toEqual({ id: 1, n: 1, uuid: null })
})

test('a time is sent in a response as it came from the database, and null as null', () => {
  const schema = Type.Object({ at: Time, ended_at: nullable(Time), first_at: nullable(Time) })
  const write = compileSerializer({ schema, method: 'GET', url: '/' })
  const at = new Date(1_700_000_000_123)
  const text = '"2023-11-14T22:13:20.123Z"'
  expect(write({ at, ended_at: at, first_at: null })).toBe(
    `{"at":${text},"ended_at":${text},"first_at":null}`
  )
})
