import fc from 'fast-check'

type Schema = {
  type?: string | string[]
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
}
type Parameter = { in: string; name: string; schema: Schema }
type Operation = {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}
export type Caller = 'anonymous' | 'customer' | 'admin'
export type Body = { type: string; json: unknown } | { type: string; bytes: Buffer }
export type GeneratedRequest = {
  method: string
  path: string
  parameters: { name: string; value: unknown }[]
  query: [string, unknown][]
  headers: Record<string, string>
  caller: Caller
  body: Body | undefined
}
type Value = fc.Arbitrary<unknown>

/** Stands for the n-th thing of a kind that exists when the request is sent; a request is generated before. */
const marker = (kind: string) => fc.nat(99).map(index => `§${kind}:${index}§`)

/** Replaces markers by existing values, at any depth. */
export function resolveMarkers<T>(value: T, lookUp: (kind: string, index: number) => string): T {
  const resolve = (text: string) =>
    text.replace(/§([\w/-]+):(\d+)§/g, (_all, kind: string, index: string) => lookUp(kind, Number(index)))
  const walk = (inner: unknown): unknown => {
    if (typeof inner === 'string') return resolve(inner)
    if (typeof inner !== 'object' || inner === null || Buffer.isBuffer(inner)) return inner
    if (Array.isArray(inner)) return inner.map(walk)
    return Object.fromEntries(Object.entries(inner).map(([key, each]) => [key, walk(each)]))
  }
  return walk(value) as T
}

const KINDS = [
  'product',
  'variant',
  'category',
  'discount',
  'session',
  'invitation',
  'checkout',
  'payment',
  'order',
  'review',
  'user'
]
/** What administrators keep below one path each, which is also what it is called. */
export const COLLECTIONS = [
  ...['markets', 'price-lists', 'promotions'],
  ...['taxes/categories', 'taxes/zones', 'taxes/rates'],
  ...['shipping/methods', 'shipping/zones', 'shipping/rates', 'shipping/carriers']
].map(each => `/api/admin/${each}`)
/** What customers keep, likewise. */
export const OWN_COLLECTIONS = ['/api/auth/addresses']
const anyId = fc.constantFrom(...KINDS, ...COLLECTIONS, ...OWN_COLLECTIONS).chain(marker)
const someId = fc.oneof(
  { weight: 6, arbitrary: anyId },
  fc.uuid(),
  fc.constantFrom('00000000-0000-0000-0000-000000000000', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF')
)
const dates = [
  '2020-01-01T00:00:00Z',
  '2999-01-01T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '1000-01-01T00:00:00+23:59',
  '2999-12-31T23:59:59.999999999-23:59',
  '9999-12-31T23:59:59.999999999Z',
  '2016-12-31T23:59:60Z',
  '2016-02-30T00:00:00Z',
  '2017-02-29T24:00:00Z',
  '2017-13-01T00:00:00Z',
  '2017-01-01T00:00:00+24:00'
]
const tricks = [
  '',
  ' ',
  "'; drop table catalog.products; --",
  "' or '1'='1",
  '%_\\%',
  '../../../../etc/passwd',
  '..\\..\\windows',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'x\udc00y',
  '\u202e\ufeff\u200b',
  '__proto__',
  'constructor',
  '{{7*7}}',
  '=cmd()',
  '<script>',
  'null',
  'NaN',
  '-1',
  '1e400',
  '9007199254740993',
  '👩‍👩‍👧‍👦',
  'İı̇ßſ',
  '\u0301',
  '!&|()<->:*',
  'a'.repeat(256),
  'é'.repeat(3_000)
]
const plain = ['Mug', 'mug-1', 'A', 'kitchen', 'https://a.example/x.png', 'pearl lamp on a quiet hill']
const numbers = [
  0,
  1,
  2,
  99,
  100,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 53,
  2 ** 63,
  1e300,
  -0,
  -1,
  -(2 ** 63),
  0.5,
  1e-9
]
const deep = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)

/** A value of another type than the schema's. */
const hostile: Value = fc.oneof(
  fc.constantFrom<unknown>(...tricks, ...dates, ...numbers, null, true, false),
  fc.constantFrom<unknown>([], {}, [null], { a: 1 }, deep(31), deep(33), deep(2_000)),
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.integer({ min: 1, max: 300_000 }).map(length => 'x'.repeat(length)),
  someId
)

/** What a property of this name probably wants. */
const named: Record<string, fc.Arbitrary<string>> = {
  variant_id: marker('variant'),
  order_id: fc.oneof(marker('order'), marker('guest-order')),
  parent_id: marker('category'),
  category_ids: marker('category'),
  category: fc.oneof(marker('category'), marker('slug')),
  target_id: fc.constantFrom('product', 'variant', 'category').chain(marker),
  slug: fc.oneof(marker('slug'), fc.stringMatching(/^[a-z]{1,9}$/)),
  sku: fc.oneof(marker('sku'), fc.stringMatching(/^[A-Z]{1,9}$/)),
  guest_cart_token: marker('guest'),
  'x-guest-cart-token': marker('guest'),
  refresh_token: marker('refresh'),
  api_key: marker('api-key'),
  invitation: marker('code'),
  email: fc.oneof(fc.constant('customer@example.com'), fc.emailAddress()),
  password: fc.constantFrom('nine lives and a piano', 'pearl lamp on a quiet hill', 'password'),
  current_password: fc.constantFrom('nine lives and a piano', 'password'),
  new_password: fc.constant('nine lives and a piano'),
  starts_at: fc.constant('2020-01-01T00:00:00Z'),
  ends_at: fc.constant('2999-01-01T00:00:00Z'),
  zone_id: marker('/api/admin/taxes/zones'),
  price_list_id: marker('/api/admin/price-lists'),
  country: fc.constantFrom('DE', 'SE', 'US')
}

function text(schema: Schema, name: string): fc.Arbitrary<string> {
  const pattern = schema.pattern === undefined ? undefined : new RegExp(schema.pattern, 'u')
  const min = schema.minLength ?? 0
  const max = schema.maxLength ?? 1_000
  const fits = (each: string) => each.length >= min && each.length <= max && (pattern?.test(each) ?? true)
  const words = [...plain, ...plain, ...dates, ...tricks, 'a'.repeat(max), 'é'.repeat(max)].filter(fits)
  const wanted = named[name]
  return fc.oneof(
    ...(wanted === undefined ? [] : [{ weight: 6, arbitrary: wanted }]),
    ...(words.length === 0 ? [] : [{ weight: 3, arbitrary: fc.constantFrom(...words) }]),
    ...(words.length === 0 ? [{ weight: 3, arbitrary: someId as fc.Arbitrary<string> }] : []),
    ...(pattern === undefined ? [{ weight: 1, arbitrary: fc.string({ maxLength: Math.min(max, 50) }) }] : [])
  )
}

function valid(schema: Schema, name: string, broken: number): Value {
  const { anyOf, type } = schema
  if (anyOf !== undefined) return fc.oneof(...anyOf.map(each => value(each, name, broken)))
  if (Array.isArray(type))
    return fc.oneof(...type.map(each => valid({ ...schema, type: each }, name, broken)))
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if ('const' in schema) return fc.constant(schema.const)
  const { minimum: min = -1_000, maximum: max = 2 ** 53 - 1 } = schema
  switch (type) {
    case 'integer':
    case 'number':
      return fc.oneof(
        {
          weight: 4,
          arbitrary: fc.integer({ min: Math.max(min, -9), max: Math.min(max, Math.max(min, 9)) })
        },
        fc.maxSafeInteger().map(n => min + (Math.abs(n) % (max - min + 1))),
        fc.constantFrom(min, max)
      )
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(value(schema.items ?? {}, name, broken), { maxLength: 4 })
    case 'object':
      return object(schema, broken)
    case 'string':
      return text(schema, name)
    default:
      return hostile
  }
}

function object({ properties = {}, required = [], additionalProperties }: Schema, broken: number): Value {
  const entries = Object.entries(properties).map(([name, each]) => [name, value(each, name, broken)])
  const fields: Record<string, Value> = Object.fromEntries(entries)
  const whole = fc.record(fields, { requiredKeys: required })
  const more =
    typeof additionalProperties === 'object' ? value(additionalProperties, 'more', broken) : undefined
  const extra = fc.dictionary(fc.constantFrom(...plain, ...tricks), more ?? hostile, { maxKeys: 3 })
  if (more !== undefined) return fc.tuple(whole, extra).map(([own, other]) => ({ ...own, ...other }))
  if (broken === 0) return whole
  return fc.oneof(
    { weight: 12, arbitrary: whole },
    { weight: 1, arbitrary: fc.record(fields, { requiredKeys: [] }) },
    { weight: 1, arbitrary: fc.tuple(whole, extra).map(([own, other]) => ({ ...own, ...other })) }
  )
}

/** A value that fits the schema, or, in `broken` of 20 places, one that does not. */
function value(schema: Schema, name: string, broken: number): Value {
  const fitting = valid(schema, name, broken)
  if (broken === 0) return fitting
  return fc.oneof({ weight: 20 - broken, arbitrary: fitting }, { weight: broken, arbitrary: hostile })
}

const headers: fc.Arbitrary<Record<string, string>> = fc.record(
  {
    'if-match': fc.constantFrom(
      '"1"',
      '"2"',
      '"7"',
      '*',
      'W/"1"',
      '"1", "2"',
      '1',
      '',
      '"',
      `"${'9'.repeat(99)}"`
    ),
    'idempotency-key': fc.constantFrom('k1', '"k2"', 'k3', '', '"', 'é', 'k'.repeat(256), "'; --"),
    'x-guest-cart-token': fc.oneof(
      { weight: 3, arbitrary: marker('guest') },
      fc.constantFrom('', '..', 'é', 'x'.repeat(5_000))
    ),
    'x-checkout-token': fc.oneof(
      { weight: 3, arbitrary: marker('checkout-token') },
      fc.constantFrom('', 'cht_', 'cht_test.é', 'x'.repeat(5_000))
    ),
    'x-order-token': fc.oneof(
      { weight: 3, arbitrary: marker('order-token') },
      fc.constantFrom('', 'ort_', 'ort_test.é', 'x'.repeat(5_000))
    ),
    'x-request-id': fc.constantFrom('fuzz-1', '', '\u00ff', 'x'.repeat(1_000)),
    'if-none-match': fc.constantFrom('*', '"1"', 'rubbish'),
    authorization: fc.constantFrom(
      '',
      'Bearer',
      'Bearer x',
      'Bearer a.b.c',
      'Basic YTpi',
      `Bearer ${'.'.repeat(9_000)}`
    ),
    'accept-encoding': fc.constantFrom('gzip', 'identity;q=0', '*')
  },
  { requiredKeys: [] }
)
const fewHeaders = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Record<string, string>>({}) },
  { weight: 1, arbitrary: headers }
)

const JSON_TYPE = 'application/json'
const types = fc.constantFrom(
  JSON_TYPE,
  'text/plain',
  'text/csv',
  'application/json; charset=utf-16',
  'x',
  '',
  '/'
)
const rawTexts = [
  '',
  '{',
  '{"a":1,"a":2}',
  '{"__proto__":{}}',
  '\ufeff{}',
  '{"name":1e999}',
  '{"quantity":01}',
  '"\\ud800"',
  '{"\\u0000":1}',
  'null',
  `${'['.repeat(50_000)}`,
  `{"name":"${'x'.repeat(1_100_000)}"}`
]
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map(each => Buffer.from(each)),
  fc.constantFrom(...rawTexts).map(each => Buffer.from(each)),
  fc.constant(Buffer.from('7b226e616d65223a22ff fe22 7d'.replaceAll(' ', ''), 'hex'))
)

const columns =
  'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price,Variant Grams,Image Src,Status'
const cell = fc.oneof(
  fc.constantFrom(
    ...plain,
    ...tricks,
    '12.50',
    '-1',
    '1e9',
    '"',
    '""',
    '"a\nb"',
    ',',
    '\r\n',
    '99999999999999999999'
  ),
  marker('slug'),
  marker('sku')
)
const csvText = fc
  .tuple(
    fc.constantFrom('', '\ufeff'),
    fc.array(fc.array(cell, { minLength: 7, maxLength: 10 }), { maxLength: 6 })
  )
  .map(([start, rows]) => Buffer.from([start + columns, ...rows.map(row => row.join(','))].join('\n')))
const goodRow = fc
  .tuple(fc.stringMatching(/^[a-z]{1,6}$/), cell, cell, fc.constantFrom('1', '12.50', '0', '999999999'))
  .map(([handle, title, sku, price]) =>
    [handle, title, 'Title', 'Default Title', sku, price, '10', '', 'active']
      .map(each => `"${each.replaceAll('"', '""')}"`)
      .join(',')
  )
const csvRows = fc.array(goodRow, { maxLength: 6 }).map(rows => Buffer.from([columns, ...rows].join('\n')))
const csvBody = fc
  .tuple(
    fc.oneof(csvRows, csvText, bytes),
    fc.constantFrom('text/csv', 'text/csv', 'text/csv; charset=latin1', JSON_TYPE)
  )
  .map(([content, type]) => ({ type, bytes: content }))

function bodyOf(path: string, operation: Operation, broken: number): fc.Arbitrary<Body | undefined> {
  if (path.endsWith('/import')) return csvBody
  const schema = operation.requestBody?.content[JSON_TYPE]?.schema
  const fitting =
    schema && value(schema, 'body', broken).map<Body | undefined>(json => ({ type: JSON_TYPE, json }))
  const none = fc.constant<Body | undefined>(undefined)
  if (broken === 0) return fitting ?? none
  const rubbish = fc
    .tuple(types, bytes)
    .map<Body | undefined>(([type, content]) => ({ type, bytes: content }))
  return fc.oneof(
    { weight: 8, arbitrary: fitting ?? none },
    { weight: 1, arbitrary: rubbish },
    { weight: 1, arbitrary: none }
  )
}

/** Every list has cursors of its own. */
export const cursorKind = (path: string) => `cursor${path.replaceAll(/\W/g, '_')}`

/** What a parameter of the path is called after: `/api/catalog/products/{id}` wants the id of a product. */
function parameterOf(path: string, { name, schema }: Parameter, broken: number): Value {
  const collection = [...COLLECTIONS, ...OWN_COLLECTIONS].find(each => path.startsWith(`${each}/{`))
  const kind = collection ?? KINDS.find(each => path.includes(`/${each.replace(/y$/, 'ie')}s/{`))
  const own =
    name === 'variantId'
      ? marker('variant')
      : name === 'codeId'
        ? marker('promotion-code')
        : name === 'orderID'
          ? marker('order')
          : /\/(payments|orders)\/guest\//.test(path)
            ? marker('guest-order')
            : path.includes('/checkouts/guest/')
              ? marker('guest-checkout')
              : kind === undefined
                ? anyId
                : marker(kind)
  const slug = path.startsWith('/api/catalog') ? own : fc.oneof(own, marker('slug'))
  const fitting = fc.oneof(
    { weight: 5, arbitrary: slug },
    { weight: 1, arbitrary: value(schema, name, broken) }
  )
  return broken === 0
    ? fitting
    : fc.oneof({ weight: 5, arbitrary: fitting }, { weight: 1, arbitrary: hostile })
}

/** Requests for one operation of the document: half of them fit its schemas, the others are broken somewhere. */
export function requestsFor(
  method: string,
  path: string,
  operation: Operation
): fc.Arbitrary<GeneratedRequest> {
  const requests = (broken: number) => {
    const given = operation.parameters ?? []
    const inPath = given.filter(each => each.in === 'path')
    const inQuery = given.filter(each => each.in === 'query')
    const fitting = Object.fromEntries(
      inQuery.map(({ name, schema }) => [
        name,
        name === 'cursor' ? marker(cursorKind(path)) : value(schema, name, broken)
      ])
    )
    const other = fc.array(fc.tuple(fc.constantFrom('limit', 'x', 'cursor', ...tricks), hostile), {
      maxLength: 2
    })
    const query = fc.record(fitting, { requiredKeys: [] }).map(each => Object.entries(each))
    return fc.record({
      method: fc.constant(method.toUpperCase()),
      path: fc.constant(path),
      parameters: fc
        .tuple(...inPath.map(each => parameterOf(path, each, broken)))
        .map(values => values.map((each, index) => ({ name: inPath[index]?.name ?? '', value: each }))),
      query:
        broken === 0 ? query : fc.oneof({ weight: 5, arbitrary: query }, { weight: 1, arbitrary: other }),
      headers: fewHeaders,
      caller: callerOf(path),
      body: bodyOf(path, operation, broken)
    })
  }
  return fc.oneof(requests(0), requests(2))
}

/** Mostly an authorized caller, because a request that is refused early tests only the authorization. */
function callerOf(path: string): fc.Arbitrary<Caller> {
  const others = fc.constantFrom<Caller>('anonymous', 'customer', 'admin')
  const allowed: Caller = /^\/api\/(catalog|admin|inventory|auth\/(?:invitations|api-keys))/.test(path)
    ? 'admin'
    : 'customer'
  return fc.oneof({ weight: 4, arbitrary: fc.constant(allowed) }, { weight: 1, arbitrary: others })
}
