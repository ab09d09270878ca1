import { readdir, readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { extractNamedSchemas } from '../src/gateway/openapi/components.ts'
import { createTestApp, type TestApp } from './support/app.ts'

const committed = new URL('../openapi.json', import.meta.url)
let app: TestApp

beforeAll(async () => {
  app = await createTestApp()
})
afterAll(() => app.close())

test('the committed openapi.json equals the document generated from the routes', async () => {
  const document = JSON.parse((await app.request('GET', '/openapi.json')).text)
  if (process.env.UPDATE_DOCS === '1') await writeFile(committed, `${JSON.stringify(document, null, 2)}\n`)
  expect(document).toEqual(JSON.parse(await readFile(committed, 'utf8')))
})

test('openapi.json is OpenAPI 3.1, and every operation has a summary', async () => {
  const { json } = await app.request('GET', '/openapi.json')
  expect(json.openapi).toBe('3.1.0')
  const operations = Object.entries<Record<string, { summary?: string; tags?: string[] }>>(
    json.paths
  ).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation }))
  )
  expect(operations.length).toBeGreaterThan(20)
  const silent = operations.filter(({ operation }) => !operation.summary || !operation.tags?.length)
  expect(silent.map(({ method, path }) => `${method} ${path}`)).toEqual([])
})

test('every tag in openapi.json has a description', async () => {
  const { json } = await app.request('GET', '/openapi.json')
  const tags: { name: string; description?: string }[] = json.tags
  const operations = Object.values<Record<string, { tags: string[] }>>(json.paths).flatMap(Object.values)
  const used = operations.flatMap(operation => operation.tags)
  expect(tags.map(({ name }) => name).sort()).toEqual([...new Set(used)].sort())
  expect(tags.filter(({ description }) => !description)).toEqual([])
})

test('every operation in openapi.json has a unique id, and declares its error responses', async () => {
  const { json } = await app.request('GET', '/openapi.json')
  type Operation = {
    operationId: string
    responses: Record<string, unknown>
    parameters?: { $ref?: string }[]
  }
  const operations = Object.values<Record<string, Operation>>(json.paths).flatMap(
    Object.values
  ) as Operation[]
  expect(new Set(operations.map(each => each.operationId)).size).toBe(operations.length)
  const { schema } = json.components.responses.Problem.content['application/problem+json']
  expect(json.components.schemas[schema.$ref.split('/').at(-1)].required).toContain('code')
  for (const { responses } of operations) {
    expect(responses.default).toEqual({ $ref: '#/components/responses/Problem' })
  }
  const keyed = operations.filter(each =>
    each.parameters?.some(({ $ref }) => $ref?.endsWith('IdempotencyKey'))
  )
  expect(keyed.length).toBeGreaterThan(20)
  expect(json.components.parameters.IdempotencyKey).toMatchObject({ in: 'header', name: 'idempotency-key' })
})

test('every body in openapi.json is a named component: XRequest for requests, XResponse for responses', async () => {
  const { json } = await app.request('GET', '/openapi.json')
  type Body = { content?: Record<string, { schema?: { $ref?: string } }> }
  type Operation = { requestBody?: Body; responses: Record<string, Body> }
  const operations = Object.entries<Record<string, Operation>>(json.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ route: `${method} ${path}`, ...operation }))
  )
  const nameIn = (body: Body | undefined) =>
    body?.content?.['application/json']?.schema?.$ref?.split('/').at(-1) ?? '(none)'
  const isJson = (body: Body | undefined) => body?.content?.['application/json'] !== undefined
  const misnamed = operations.flatMap(({ route, requestBody, responses }) => [
    ...(isJson(requestBody) && !/^[A-Z]\w+Request$/.test(nameIn(requestBody)) ? [`${route} takes`] : []),
    ...Object.entries(responses)
      .filter(([, answer]) => isJson(answer) && !/^[A-Z]\w+Response$/.test(nameIn(answer)))
      .map(([status]) => `${route} answers ${status}`)
  ])
  expect(misnamed).toEqual([])
  const { schemas } = json.components
  expect(Object.keys(schemas).length).toBeGreaterThan(40)
  const references = [...JSON.stringify(json).matchAll(/#\/components\/schemas\/(\w+)/g)].map(
    found => found[1]
  )
  expect(references.filter(name => !(String(name) in schemas))).toEqual([])
  const { children } = schemas.CategoryNodeResponse.properties
  expect(children.items).toEqual({ $ref: '#/components/schemas/CategoryNodeResponse' })
})

test('every list operation in openapi.json has limit, cursor and count, and returns a page', async () => {
  const { json } = await app.request('GET', '/openapi.json')
  const schemas: Record<string, { properties?: Record<string, unknown> }> = json.components.schemas
  const isPage = (name: string) => schemas[name]?.properties?.next_cursor !== undefined
  const lists = Object.keys(schemas).filter(isPage)
  expect(lists).toEqual(Object.keys(schemas).filter(name => name.endsWith('ListResponse')))
  const reading = Object.entries<Record<string, object>>(json.paths).flatMap(([path, { get }]) =>
    lists.some(name => JSON.stringify(get)?.includes(`/${name}"`)) ? [{ path, get }] : []
  )
  expect(reading.length).toBeGreaterThan(4)
  for (const { path, get } of reading) {
    const names = (get as { parameters: { name?: string }[] }).parameters.map(each => each.name)
    expect(names, path).toEqual(expect.arrayContaining(['limit', 'cursor', 'count']))
  }
})

test('two different schemas cannot have one name in openapi.json', () => {
  const named = (type: string) => ({ title: 'WishResponse', type })
  expect(extractNamedSchemas([named('string'), named('string')])).toEqual({
    part: Array(2).fill({ $ref: '#/components/schemas/WishResponse' }),
    schemas: { WishResponse: { type: 'string' } }
  })
  expect(() => extractNamedSchemas([named('string'), named('integer')])).toThrow(
    'two schemas are called WishResponse'
  )
})

test('the API page and its scripts load only files of this server, and all of these exist', async () => {
  const found = new Set(['/docs'])
  for (const path of found) {
    const { status, text } = await app.request('GET', path)
    expect(status, path).toBe(200)
    if (path.endsWith('.json')) continue
    for (const [, link] of text.matchAll(/(?:src|href)="([^"#]+)"/g))
      if (link !== 'data:,') found.add(String(link))
    for (const [, name] of text.matchAll(/ from '\.\/(\w+\.js)'/g)) found.add(`/docs/${name}`)
    if (path === '/docs') found.delete('/')
    expect(text, path).not.toMatch(/https?:\/\/(?!example\.com)|@import|url\(/)
  }
  const files = await readdir(new URL('../src/gateway/pages/docs/', import.meta.url))
  const scripts = [...found].flatMap(path => /^\/docs\/(.+)$/.exec(path)?.[1] ?? [])
  expect(['index.html', ...scripts].sort()).toEqual(files.sort())
})

test('operations with cacheable responses declare ETag and 304 in openapi.json', async () => {
  const { json } = await app.request('GET', '/openapi.json')
  for (const path of ['/api/products', '/api/products/{id}', '/api/categories', '/api/categories/{id}']) {
    const { responses, parameters } = json.paths[path].get
    expect(responses['304'], path).toEqual({ $ref: '#/components/responses/NotModified' })
    expect(responses['200'].headers, path).toMatchObject({ etag: { $ref: '#/components/headers/ETag' } })
    expect(parameters, path).toContainEqual({ $ref: '#/components/parameters/IfNoneMatch' })
  }
  expect(json.paths['/api/cart'].get.responses).not.toHaveProperty('304')
  expect(JSON.stringify(json)).not.toContain('x-declared')
})

test('an operation that accepts a file declares its media type in openapi.json, and no Idempotency-Key', async () => {
  const { json } = await app.request('GET', '/openapi.json')
  const { requestBody, parameters } = json.paths['/api/catalog/import'].post
  expect(requestBody.content).toEqual({ 'text/csv': { schema: { type: 'string', format: 'binary' } } })
  expect(parameters.map((each: { name?: string }) => each.name)).toEqual(['mode'])
})

type Part = { $ref?: string; name?: string }
type Operation = {
  security: object[]
  parameters?: Part[]
  responses: Record<string, { headers?: Record<string, Part> }>
}
const named = (part: string, { $ref }: Part) => $ref?.endsWith(`/${part}`)

async function readOperations() {
  const { json } = await app.request('GET', '/openapi.json')
  return Object.entries<Record<string, Operation>>(json.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, route: `${method} ${path}` }))
  )
}

test('every operation in openapi.json declares whether it needs a token', async () => {
  const operations = await readOperations()
  const open = operations.filter(({ security }) => security.length === 0).map(({ route }) => route)
  const isOpen =
    /^get \/(?:healthz|readyz|metricsz?)$|^(?!(?:post|put|delete) \/api\/products|.*\/reviews\/mine).*(\/auth\/(register|login|login\/second-factor|refresh|verify|forgot|reset|token)|\/jwks.json|\/api\/(products|categories|guest-cart|inventory\/availability|markets|countries|shipping\/(?:rates|guest|track)|checkouts\/guest|orders\/guest|payments\/(?:guest|callback|methods)|notifications\/unsubscribe)\b.*)$/
  expect(open.length).toBeGreaterThan(10)
  expect(open).toEqual(operations.map(({ route }) => route).filter(route => isOpen.test(route)))
})

test('where two paths of openapi.json match one URL, one has a fixed word where the other has an id', async () => {
  const { json } = await app.request('GET', '/openapi.json')
  type Path = Record<string, { parameters?: { name?: string; schema?: { format?: string } }[] }>
  const paths = Object.entries<Path>(json.paths).map(([path, methods]) => {
    const ids = Object.values(methods)
      .flatMap(({ parameters = [] }) => parameters)
      .filter(({ schema }) => schema?.format === 'uuid')
      .map(({ name }) => `{${name}}`)
    return { path, ids, parts: path.split('/') }
  })
  const isOpen = (part: string) => part.startsWith('{')
  const ambiguous = paths.flatMap((one, index) =>
    paths.slice(index + 1).flatMap(other => {
      const pairs = one.parts.map((part, place) => [part, other.parts[place] ?? ''] as const)
      const fits = pairs.every(([a, b]) => a === b || isOpen(a) || isOpen(b))
      const isClear = pairs.some(
        ([a, b]) => (one.ids.includes(a) && !isOpen(b)) || (other.ids.includes(b) && !isOpen(a))
      )
      const isSame = one.parts.length === other.parts.length
      return isSame && fits && !isClear ? [`${one.path} ${other.path}`] : []
    })
  )
  expect(ambiguous).toEqual([])
})

test('writes of versioned objects declare If-Match in openapi.json, and responses with the object declare its ETag', async () => {
  const operations = await readOperations()
  const conditional = operations.filter(({ parameters = [] }) =>
    parameters.some(part => named('IfMatch', part))
  )
  const priced = [
    ...['markets', 'price-lists', 'promotions'],
    ...['shipping/carriers', 'shipping/methods', 'shipping/rates', 'shipping/zones'],
    ...['taxes/categories', 'taxes/exemptions', 'taxes/rates', 'taxes/zones']
  ]
  expect(conditional.map(({ route }) => route).sort()).toEqual([
    ...[
      ...priced.map(each => `${each}/{id}`),
      ...['notifications/templates/{name}/{locale}', 'shipping/shipments/{id}/label']
    ]
      .sort()
      .map(path => `delete /api/admin/${path}`),
    'delete /api/admin/webhooks/endpoints/{id}',
    'delete /api/auth/addresses/{id}',
    'delete /api/cart',
    'delete /api/cart/items/{variantId}',
    'delete /api/cart/lines/{lineId}',
    'delete /api/catalog/categories/{id}',
    'delete /api/catalog/discounts/{id}',
    'delete /api/catalog/products/{id}',
    'delete /api/catalog/reviews/{id}',
    'delete /api/catalog/reviews/{id}/reply',
    'delete /api/catalog/variants/{id}',
    'delete /api/guest-cart',
    'delete /api/guest-cart/items/{variantId}',
    'delete /api/guest-cart/lines/{lineId}',
    'delete /api/products/{id}/reviews',
    ...[...priced, 'orders', 'orders/{id}/shipments', 'shipping/shipments']
      .sort()
      .map(each =>
        `patch /api/admin/${each}/{id}`.replace('{id}/shipments/{id}', '{id}/shipments/{shipment_id}')
      ),
    'patch /api/admin/webhooks/endpoints/{id}',
    'patch /api/auth/addresses/{id}',
    'patch /api/cart',
    'patch /api/cart/lines/{lineId}',
    'patch /api/catalog/categories/{id}',
    'patch /api/catalog/discounts/{id}',
    'patch /api/catalog/products/{id}',
    'patch /api/catalog/reviews/{id}',
    'patch /api/catalog/variants/{id}',
    'patch /api/guest-cart',
    'patch /api/guest-cart/lines/{lineId}',
    'patch /api/inventory/items/{id}',
    'patch /api/inventory/locations/{id}',
    ...[
      ...['cancel', 'notes', 'refunds', 'returns', 'shipments'],
      ...['shipments/{shipment_id}/events/{event_id}/void', 'shipments/{shipment_id}/void', 'transition']
    ].map(each => `post /api/admin/orders/{id}/${each}`),
    ...['events', 'events/batch', 'label'].map(each => `post /api/admin/shipping/shipments/{id}/${each}`),
    'post /api/admin/webhooks/endpoints/{id}/rotate',
    'post /api/cart',
    'post /api/cart/merge',
    'post /api/catalog/products/{id}/variants',
    'post /api/catalog/reviews/{id}/publish',
    'post /api/catalog/reviews/{id}/reject',
    'post /api/checkouts/guest/{id}/cancel',
    'post /api/checkouts/guest/{id}/complete',
    'post /api/checkouts/{id}/cancel',
    'post /api/checkouts/{id}/complete',
    'post /api/guest-cart',
    'post /api/orders/guest/{id}/cancel',
    'post /api/orders/{id}/cancel',
    'post /api/orders/{id}/claim',
    'put /api/admin/maintenance',
    'put /api/admin/notifications/templates/{name}/{locale}',
    'put /api/cart/items/{variantId}',
    'put /api/catalog/reviews/{id}/reply',
    'put /api/checkouts/guest/{id}',
    'put /api/checkouts/{id}',
    'put /api/guest-cart/items/{variantId}',
    'put /api/inventory/items/{id}/components',
    'put /api/products/{id}/reviews'
  ])
  const tagged = operations.filter(({ responses }) =>
    Object.values(responses).some(({ headers }) => named('VersionTag', headers?.etag ?? {}))
  )
  const reads = [
    'get /api/admin/maintenance',
    'get /api/admin/notifications/templates/{name}/{locale}',
    'get /api/admin/shipping/shipments/{id}/label',
    ...['get /api/checkouts/{id}', 'get /api/checkouts/guest/{id}'],
    ...['get /api/orders/{id}', 'get /api/orders/guest/{id}', 'get /api/admin/orders/{id}'],
    ...[
      'get /api/auth/addresses/{id}',
      'get /api/cart',
      'get /api/catalog/categories/{id}',
      'get /api/catalog/products/{id}',
      'get /api/guest-cart'
    ],
    ...['get /api/inventory/items/{id}', 'get /api/inventory/locations/{id}'],
    ...['get /api/catalog/reviews/{id}', 'get /api/products/{id}/reviews/mine'],
    ...[...priced, 'shipping/shipments', 'webhooks/endpoints'].map(each => `get /api/admin/${each}/{id}`)
  ]
  const creations = [
    ...['categories', 'discounts', 'products'].map(each => `post /api/catalog/${each}`),
    ...['post /api/auth/addresses', 'post /api/inventory/locations', 'post /api/products/{id}/reviews'],
    ...['post /api/checkouts', 'post /api/checkouts/guest', 'post /api/orders', 'post /api/orders/guest'],
    ...['orders', 'webhooks/endpoints', ...priced].map(each => `post /api/admin/${each}`)
  ]
  const withBody = conditional.filter(({ responses }) => !('204' in responses)).map(({ route }) => route)
  expect(tagged.map(({ route }) => route).sort()).toEqual([...withBody, ...reads, ...creations].sort())
})
