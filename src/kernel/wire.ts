import { AMOUNT_MAX } from './money.ts'
import { patternWithMessage } from './patterns.ts'
import { type Static, type TObject, type TSchema, Type } from './schema.ts'

// Schemas of requests and responses that all modules share. A schema with a name is a component of the OpenAPI document.

type Properties = Record<string, TSchema>

/** An object of a request: unknown members are rejected. */
export const input = <P extends Properties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

/** The body of a request; `name` is `XRequest`. */
export const request = <P extends Properties>(name: `${string}Request`, properties: P) =>
  Type.Object(properties, { title: name, additionalProperties: false })

/**
 * The body of a PATCH: all members are optional, and `rules` can limit them further. Omitted members stay unchanged, so
 * defaults are dropped.
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

/** The body of a response, or a named part of one; `name` is `XResponse`. */
export const response = <P extends Properties>(name: `${string}Response`, properties: P) =>
  Type.Object(properties, { title: name })

/** A reference to the response `name` from within itself. It is serialized without being checked against the schema. */
export const recursiveResponse = <T>(name: `${string}Response`) =>
  Type.Unsafe<T>({ title: name, type: 'object', additionalProperties: true })

const PLAIN = ['string', 'integer', 'number', 'boolean']

/** The schema or `null`. Uses `type` where possible, because serializers try the branches of a union. */
export const nullable = <T extends TSchema>(schema: T) => {
  const { type, enum: words } = schema as { type?: string; enum?: unknown }
  return type !== undefined && PLAIN.includes(type) && words === undefined
    ? Type.Unsafe<Static<T> | null>({ ...schema, type: [type, 'null'] })
    : (Type.Union([schema, Type.Null()]) as unknown as ReturnType<typeof Type.Unsafe<Static<T> | null>>)
}

/** An identifier: a UUID. */
export const Id = Type.String({ format: 'uuid' })
/** A time in a response: a `Date`, as the database returns it. */
export const Time = Type.Unsafe<Date>({ type: 'string', format: 'date-time' })
/** A day in a request. */
export const Day = Type.String({
  format: 'date',
  description: 'A day, such as 2026-11-30.',
  ...patternWithMessage('^[12][0-9]{3}-', 'must be a day, such as 2026-11-30')
})
/** The version that `If-Match` is compared with. It is also the ETag of the response, unless caches may store the response. */
export const Version = Type.Integer({ description: 'Version of the object. Send it as `If-Match`.' })

/** Text of one line. It must be printable: PostgreSQL cannot store NUL, which a URL can carry past the body parser. */
export const line = (maxLength: number, description?: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    ...patternWithMessage('^[^\\u0000-\\u001f\\u007f]*$', 'must be one line, without control characters'),
    ...(description && { description })
  })

const MINOR = 'in minor units of the currency'
/** Money in a request. */
export const Amount = Type.Integer({ description: `Money, ${MINOR}.`, minimum: 0, maximum: AMOUNT_MAX })
/** Money in a response. */
export const amount = (what = 'Money') => Type.Integer({ description: `${what}, ${MINOR}.` })
/** The currency beside an amount. */
export const Currency = Type.String({ description: 'Currency code (ISO 4217).' })
/** A country in a request. */
export const Country = Type.String({
  description: 'Two-letter country code (ISO 3166-1).',
  maxLength: 2,
  ...patternWithMessage('^[A-Z]{2}$', 'must be two capital letters, such as SE')
})

/** The code of a tax category, which the operator chooses and tax rates refer to. */
export const TaxCategory = Type.String({
  description:
    'Code of a tax category, such as food, which selects the tax rates. Null: `standard`. `untaxed` is never taxed.',
  maxLength: 64,
  ...patternWithMessage('^[a-z][a-z0-9_-]{0,63}$', 'must be a word of a to z, 0 to 9, _ and -')
})

/** The parameters of a route below `/:id`. */
export const IdParams = input({ id: Id })
/** Query parameters of every list. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Number of entries on the page.' })
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 2_048, description: 'The `next_cursor` of the previous page.' })
  ),
  count: Type.Optional(Type.Boolean({ description: 'Adds `total` to the response.' }))
}
/** The query of a list without filters. */
export const PageQuery = input(pageQuery)
export type PageQuery = Static<typeof PageQuery>

/** The response of every list: a page of `item`, which is named `XResponse`. */
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

/** The response of an operation that returns no data. */
export const noContent = { 204: Type.Null({ description: 'Done. The response has no body.' }) }

/** A response with the meaning of its status for one operation, for the OpenAPI document. */
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
/** The query parameter that selects the market. */
export const MarketQuery = input({ market: MarketName })
/** The header that selects the market. */
export const MarketHeaders = Type.Object({ [MARKET_HEADER]: MarketName })
/** The part of a route's schema for responses that depend on the market. */
export const marketParameters = { querystring: MarketQuery, headers: MarketHeaders } as const

/** A request to a route with `marketParameters`. */
export type MarketRequest = { readonly query: unknown; readonly headers: Readonly<Record<string, unknown>> }
/** Returns the market that the request selects; the query parameter takes precedence over the header. */
export function requestedMarket({ query, headers }: MarketRequest): string | undefined {
  const name = (query as Static<typeof MarketQuery>).market ?? headers[MARKET_HEADER]
  return typeof name === 'string' ? name : undefined
}
