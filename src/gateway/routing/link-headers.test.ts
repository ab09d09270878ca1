import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { moduleOf, useSharedGateway } from '../../../test/support/gateway.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { Type } from '../../kernel/schema.ts'

shareShops()

const config = { class: 'browse', noReplay: 'a test' } as const
const made = { 201: Type.Object({ id: Type.String() }) }
let rowsRead = 0
async function* rows() {
  for (const row of ['a,b\n', '1,2\n']) {
    rowsRead += 1
    yield row
  }
}
const things = moduleOf('x', ['/api/x'], ({ public: open }) => {
  open.post('/x/things', { config, schema: { response: made } }, async () => ({ id: '7' }))
  open.get('/x/things/:id', { config }, async () => ({}))
  open.post('/x/deeds', { config, schema: { response: made } }, async () => ({ id: '7' }))
  const page = Type.Object({
    items: Type.Array(Type.String()),
    next_cursor: Type.Union([Type.String(), Type.Null()])
  })
  open.get('/x/pages', { config, schema: { response: { 200: page } } }, async request => ({
    items: ['"next_cursor":"forged"'],
    next_cursor: 'cursor' in (request.query as object) ? null : 'c+1'
  }))
  const csv = { 200: { content: { 'text/csv': { schema: Type.String() } } } }
  open.get('/x/things/:id/rows.csv', { config, schema: { response: csv } }, (_request, reply) => {
    reply.type('text/csv').send(Readable.from(rows()) as never)
  })
})

test('a 201 response has a Location header if a route reads the new object', async () => {
  const gateway = await useSharedGateway({ modules: [things] })
  const { status, headers } = await gateway.request('POST', '/api/x/things?market=de')
  expect([status, headers.location]).toEqual([201, '/api/x/things/7'])
  expect((await gateway.request('GET', String(headers.location))).status).toBe(200)
  const other = await gateway.request('POST', '/api/x/deeds')
  expect([other.status, other.headers.location]).toEqual([201, undefined])
})

test('a list response links to its next page, and the last page has no link', async () => {
  const gateway = await useSharedGateway({ modules: [things] })
  const first = await gateway.request('GET', '/api/x/pages?limit=1')
  expect(first.headers.link).toBe('</api/x/pages?limit=1&cursor=c%2B1>; rel="next"')
  const next = String(first.headers.link).slice(1, -'>; rel="next"'.length)
  const last = await gateway.request('GET', next)
  expect([last.json.next_cursor, last.headers.link]).toEqual([null, undefined])
})

test('a CSV download has a file name in its headers', async () => {
  const gateway = await useSharedGateway({ modules: [things] })
  const { headers } = await gateway.request('GET', '/api/x/things/7/rows.csv')
  expect(headers['content-disposition']).toBe('attachment; filename="x-things-rows.csv"')
})

test('HEAD of a CSV download has its headers and reads no row', async () => {
  const gateway = await useSharedGateway({ modules: [things] })
  const path = '/api/x/things/7/rows.csv'
  const { headers, text } = await gateway.request('GET', path)
  expect(text).toBe('a,b\n1,2\n')
  rowsRead = 0
  const head = await gateway.request('HEAD', path)
  expect([head.status, head.text, rowsRead]).toEqual([200, '', 0])
  for (const name of ['content-type', 'content-disposition', 'cache-control'])
    expect(head.headers[name], name).toBe(headers[name])
})
