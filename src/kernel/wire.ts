import { AMOUNT_MAX } from './money.ts'
import { patternWithMessage } from './patterns.ts'
import { type Static, type TObject, type TSchema, Type } from './schema.ts'

// Schemas of requests and responses that all modules share. A schema with a name is a component of the OpenAPI document.

type Properties = Record<string, TSchema>

/**
 * An object of a request: unknown members are rejected.
 * @example
 * const query = wire.input({ color: Type.Optional(wire.line(20)) })
 * assert.partialDeepStrictEqual(query, { additionalProperties: false })
 */
export const input = <P extends Properties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

/**
 * The body of a request; `name` is `XRequest`.
 * @example
 * const AddWishRequest = wire.request('AddWishRequest', { variant_id: wire.Id })
 * assert.partialDeepStrictEqual(AddWishRequest, { title: 'AddWishRequest', required: ['variant_id'] })
 */
export const request = <P extends Properties>(name: `${string}Request`, properties: P) =>
  Type.Object(properties, { title: name, additionalProperties: false })

/**
 * The body of a PATCH: all members are optional, and `rules` can limit them further. Omitted members stay unchanged, so
 * defaults are dropped.
 * @example
 * const UpdateWishRequest = wire.patchRequest('UpdateWishRequest', { note: wire.line(200) })
 * assert.equal('required' in UpdateWishRequest, false)
 */
export const patchRequest = <P extends Properties>(name: `${string}Request`, properties: P, rules = {}) => {
  const optional = Object.entries(properties).map(([key, schema]) => {
    const { default: _, ...rest } = schema as { default?: unknown }
    return [key, Type.Optional(rest)]
  })
  return Type.Unsafe<Partial<Static<TObject<P>>>>({
    ...request(name, Object.fromEntries(optional)),
    ...rules
  })
}

/**
 * The body of a response, or a named part of one; `name` is `XResponse`.
 * @example
 * const WishResponse = wire.response('WishResponse', { id: wire.Id, wished_at: wire.Time })
 * assert.partialDeepStrictEqual(WishResponse, { title: 'WishResponse' })
 */
export const response = <P extends Properties>(name: `${string}Response`, properties: P) =>
  Type.Object(properties, { title: name })

/**
 * A reference to the response `name` from within itself. It is serialized without being checked against the schema.
 * @example
 * type Folder = { name: string; folders: Folder[] }
 * const inner = wire.recursiveResponse<Folder>('FolderResponse')
 * const FolderResponse = wire.response('FolderResponse', { name: Type.String(), folders: Type.Array(inner) })
 * assert.partialDeepStrictEqual(FolderResponse, { title: 'FolderResponse' })
 */
export const recursiveResponse = <T>(name: `${string}Response`) =>
  Type.Unsafe<T>({ title: name, type: 'object', additionalProperties: true })

const PLAIN = ['string', 'integer', 'number', 'boolean']

/**
 * The schema or `null`. Uses `type` where possible, because serializers try the branches of a union.
 * @example
 * assert.deepEqual(wire.nullable(Type.String()), { type: ['string', 'null'] })
 */
export const nullable = <T extends TSchema>(schema: T) => {
  const { type, enum: words } = schema as { type?: string; enum?: unknown }
  return type !== undefined && PLAIN.includes(type) && words === undefined
    ? Type.Unsafe<Static<T> | null>({ ...schema, type: [type, 'null'] })
    : (Type.Union([schema, Type.Null()]) as unknown as ReturnType<typeof Type.Unsafe<Static<T> | null>>)
}

/**
 * An identifier: a UUID.
 * @example
 * assert.deepEqual(wire.Id, { type: 'string', format: 'uuid' })
 */
export const Id = Type.String({ format: 'uuid' })
/**
 * A time in a response: a `Date`, as the database returns it.
 * @example
 * assert.deepEqual(wire.Time, { type: 'string', format: 'date-time' })
 */
export const Time = Type.Unsafe<Date>({ type: 'string', format: 'date-time' })
/**
 * A day in a request.
 * @example
 * const ReportRequest = wire.request('WishReportRequest', { from: wire.Day, to: wire.Day })
 * assert.partialDeepStrictEqual(ReportRequest, { required: ['from', 'to'] })
 */
export const Day = Type.String({
  format: 'date',
  description: 'A day, such as 2026-11-30.',
  ...patternWithMessage('^[12][0-9]{3}-', 'must be a day, such as 2026-11-30')
})
/**
 * The version that `If-Match` is compared with. It is also the ETag of the response, unless caches may store the response.
 * @example
 * const WishResponse = wire.response('WishResponse', { id: wire.Id, version: wire.Version })
 * assert.partialDeepStrictEqual(WishResponse, { required: ['id', 'version'] })
 */
export const Version = Type.Integer({ description: 'Version of the object. Send it as `If-Match`.' })

/**
 * Text of one line. It must be printable: PostgreSQL cannot store NUL, which a URL can carry past the body parser.
 * @example
 * assert.partialDeepStrictEqual(wire.line(200, 'A note.'), { maxLength: 200, description: 'A note.' })
 */
export const line = (maxLength: number, description?: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    ...patternWithMessage('^[^\\u0000-\\u001f\\u007f]*$', 'must be one line, without control characters'),
    ...(description && { description })
  })

const MINOR = 'in minor units of the currency'
/**
 * Money in a request.
 * @example
 * const LimitRequest = wire.request('WishLimitRequest', { price_max: wire.Amount })
 * assert.partialDeepStrictEqual(LimitRequest, { required: ['price_max'] })
 */
export const Amount = Type.Integer({ description: `Money, ${MINOR}.`, minimum: 0, maximum: AMOUNT_MAX })
/**
 * Money in a response.
 * @example
 * const description = 'The price, in minor units of the currency.'
 * assert.partialDeepStrictEqual(wire.amount('The price'), { description })
 */
export const amount = (what = 'Money') => Type.Integer({ description: `${what}, ${MINOR}.` })
/**
 * The currency beside an amount.
 * @example
 * const PriceResponse = wire.response('WishPriceResponse', { price: wire.amount(), currency: wire.Currency })
 * assert.partialDeepStrictEqual(PriceResponse, { required: ['price', 'currency'] })
 */
export const Currency = Type.String({ description: 'Currency code (ISO 4217).' })
/**
 * A country in a request.
 * @example
 * const OriginRequest = wire.request('WishOriginRequest', { country: wire.Country })
 * assert.partialDeepStrictEqual(OriginRequest, { required: ['country'] })
 */
export const Country = Type.String({
  description: 'Two-letter country code (ISO 3166-1).',
  maxLength: 2,
  ...patternWithMessage('^[A-Z]{2}$', 'must be two capital letters, such as SE')
})

/**
 * The code of a tax category, which the operator chooses and tax rates refer to.
 * @example
 * const category = wire.nullable(wire.TaxCategory)
 * assert.partialDeepStrictEqual(category, { type: ['string', 'null'], maxLength: 64 })
 */
export const TaxCategory = Type.String({
  description:
    'Code of a tax category, such as food, which selects the tax rates. Null: `standard`. `untaxed` is never taxed.',
  maxLength: 64,
  ...patternWithMessage('^[a-z][a-z0-9_-]{0,63}$', 'must be a word of a to z, 0 to 9, _ and -')
})

/**
 * The parameters of a route below `/:id`.
 * @example
 * const schema = { params: wire.IdParams, response: wire.noContent }
 * assert.partialDeepStrictEqual(schema.params, { required: ['id'] })
 */
export const IdParams = input({ id: Id })
/**
 * Query parameters of every list.
 * @example
 * const query = wire.input({ ...wire.pageQuery, color: Type.Optional(wire.line(20)) })
 * assert.deepEqual(Object.keys(query.properties), ['limit', 'cursor', 'count', 'color'])
 */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Number of entries on the page.' })
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 2_048, description: 'The `next_cursor` of the previous page.' })
  ),
  count: Type.Optional(Type.Boolean({ description: 'Adds `total` to the response.' }))
}
/**
 * The query of a list without filters.
 * @example
 * const schema = { querystring: wire.PageQuery }
 * assert.deepEqual(Object.keys(schema.querystring.properties), ['limit', 'cursor', 'count'])
 */
export const PageQuery = input(pageQuery)
export type PageQuery = Static<typeof PageQuery>

/**
 * The response of every list: a page of `item`, which is named `XResponse`.
 * @example
 * const WishResponse = wire.response('WishResponse', { id: wire.Id })
 * assert.partialDeepStrictEqual(wire.listOf(WishResponse), { title: 'WishListResponse' })
 */
export const listOf = <T extends TSchema>(item: T) =>
  Type.Object(
    {
      items: Type.Array(item),
      next_cursor: nullable(
        Type.String({ description: 'Send it as `cursor` to get the next page. Null: this is the last page.' })
      ),
      total: Type.Optional(
        Type.Integer({ description: 'Number of entries, up to 1,000. Only with `count=true`.' })
      ),
      total_is_more: Type.Optional(
        Type.Boolean({ description: 'True: there are more entries than `total`. Otherwise absent.' })
      )
    },
    { title: String((item as { title?: string }).title).replace(/Response$/, 'ListResponse') }
  )

/**
 * The response of an operation that returns no data.
 * @example
 * const schema = { params: wire.IdParams, response: wire.noContent }
 * assert.deepEqual(Object.keys(schema.response), ['204'])
 */
export const noContent = { 204: Type.Null({ description: 'Done. The response has no body.' }) }

/**
 * A response with the meaning of its status for one operation, for the OpenAPI document.
 * @example
 * const WishResponse = wire.response('WishResponse', { id: wire.Id })
 * const response = { 201: wire.withResponseDescription(WishResponse, 'The new wish.') }
 * assert.partialDeepStrictEqual(response[201], { title: 'WishResponse' })
 */
export const withResponseDescription = <T extends TSchema>(schema: T, description: string): T => ({
  ...schema,
  'x-response-description': description
})

const MARKET_HEADER = 'x-market'
const MarketName = Type.Optional(
  Type.String({
    maxLength: 64,
    description: 'The code of a market. Default: the market of the destination, or else the default market.'
  })
)
/**
 * The query parameter that selects the market.
 * @example
 * const query = wire.input({ ...wire.MarketQuery.properties, ...wire.pageQuery })
 * assert.ok('market' in query.properties)
 */
export const MarketQuery = input({ market: MarketName })
/**
 * The header that selects the market.
 * @example
 * assert.deepEqual(Object.keys(wire.MarketHeaders.properties), ['x-market'])
 */
export const MarketHeaders = Type.Object({ [MARKET_HEADER]: MarketName })
/**
 * The part of a route's schema for responses that depend on the market.
 * @example
 * const schema = { params: wire.IdParams, ...wire.marketParameters }
 * assert.deepEqual(Object.keys(schema), ['params', 'querystring', 'headers'])
 */
export const marketParameters = { querystring: MarketQuery, headers: MarketHeaders } as const

/**
 * A request to a route with `marketParameters`.
 * @example
 * const request: wire.MarketRequest = { query: {}, headers: { 'x-market': 'nordics' } }
 */
export type MarketRequest = { readonly query: unknown; readonly headers: Readonly<Record<string, unknown>> }
/**
 * Returns the market that the request selects; the query parameter takes precedence over the header.
 * @example
 * const headers = { 'x-market': 'nordics' }
 * assert.equal(wire.requestedMarket({ query: {}, headers }), 'nordics')
 * assert.equal(wire.requestedMarket({ query: { market: 'alps' }, headers }), 'alps')
 */
export function requestedMarket({ query, headers }: MarketRequest): string | undefined {
  const name = (query as Static<typeof MarketQuery>).market ?? headers[MARKET_HEADER]
  return typeof name === 'string' ? name : undefined
}
