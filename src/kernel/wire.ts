import { AMOUNT_MAX } from './money.ts'
import { matching } from './patterns.ts'
import { type Static, type TObject, type TSchema, Type } from './schema.ts'

// The words that requests and answers are made of: one vocabulary for every module, and for whoever reads the OpenAPI
// document. There a schema with a name is a component.

type Properties = Record<string, TSchema>

/** Something that was sent: a member that is not named here is refused. */
export const input = <P extends Properties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

/** The body of a request; `name` is `XRequest`. */
export const request = <P extends Properties>(name: `${string}Request`, properties: P) =>
  Type.Object(properties, { title: name, additionalProperties: false })

/**
 * The body of a PATCH: of these members those that are to change, which `rules` may limit. What is left out stays, so
 * none has a default.
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

/** The body of an answer, or a part of one that has a name; `name` is `XResponse`. */
export const response = <P extends Properties>(name: `${string}Response`, properties: P) =>
  Type.Object(properties, { title: name })

/** Inside of the response called `name`: that response again. It is not looked into when it is written. */
export const itself = <T>(name: `${string}Response`) =>
  Type.Unsafe<T>({ title: name, type: 'object', additionalProperties: true })

const PLAIN = ['string', 'integer', 'number', 'boolean']

/** The same, or `null`. Said by `type` where that is possible: serializers try out the branches of a union. */
export const nullable = <T extends TSchema>(schema: T) => {
  const { type, enum: words } = schema as { type?: string; enum?: unknown }
  return type !== undefined && PLAIN.includes(type) && words === undefined
    ? Type.Unsafe<Static<T> | null>({ ...schema, type: [type, 'null'] })
    : (Type.Union([schema, Type.Null()]) as unknown as ReturnType<typeof Type.Unsafe<Static<T> | null>>)
}

/** An identifier: a UUID. */
export const Id = Type.String({ format: 'uuid' })
/** A time in an answer: a `Date`, as the database gives it. */
export const Time = Type.Unsafe<Date>({ type: 'string', format: 'date-time' })
/** A day that is asked for. */
export const Day = Type.String({
  format: 'date',
  description: 'A day, such as 2026-11-30.',
  ...matching('^[12][0-9]{3}-', 'must be a day, such as 2026-11-30')
})
/** A version that `If-Match` is compared with. It is the ETag of an answer that has it, unless caches may keep that. */
export const Version = Type.Integer({ description: 'For If-Match.' })

/** Text of one line. It must be printable: PostgreSQL cannot store NUL, which a URL can carry past the body parser. */
export const line = (maxLength: number, description?: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    ...matching('^[^\\u0000-\\u001f\\u007f]*$', 'must be one line, without control characters'),
    ...(description && { description })
  })

const MINOR = 'in minor units of the currency'
/** Money that is asked for. */
export const Amount = Type.Integer({ description: `Money, ${MINOR}.`, minimum: 0, maximum: AMOUNT_MAX })
/** Money in an answer. */
export const amount = (what = 'Money') => Type.Integer({ description: `${what}, ${MINOR}.` })
/** The currency beside an amount. */
export const Currency = Type.String({ description: 'ISO 4217.' })
/** A country that is asked for. */
export const Country = Type.String({
  description: 'ISO 3166-1.',
  maxLength: 2,
  ...matching('^[A-Z]{2}$', 'must be two capital letters, such as SE')
})

/** A word of the operator's by which taxes are looked up. */
export const TaxCategory = Type.String({
  description:
    'A word of your own, such as food, by which taxes are looked up; null: `standard`. `untaxed` is never taxed.',
  maxLength: 64,
  ...matching('^[a-z][a-z0-9_-]{0,63}$', 'must be a word of a to z, 0 to 9, _ and -')
})

/** The parameters of a route below `/:id`. */
export const IdParams = input({ id: Id })
/** What every list takes. */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 })),
  count: Type.Optional(Type.Boolean({ description: 'Whether to add `total`.' }))
}
/** The query of a list without filters. */
export const PageQuery = input(pageQuery)
export type PageQuery = Static<typeof PageQuery>

/** What every list answers: a page of `item`, which is called `XResponse`. */
export const listOf = <T extends TSchema>(item: T) =>
  Type.Object(
    {
      items: Type.Array(item),
      next_cursor: nullable(
        Type.String({ description: 'Where the next page starts; null on the last one.' })
      ),
      total: Type.Optional(
        Type.Integer({ description: 'How many there are, up to 1,000; only with count=true.' })
      ),
      total_is_more: Type.Optional(
        Type.Boolean({ description: 'True when there are more than `total`; absent otherwise.' })
      )
    },
    { title: String((item as { title?: string }).title).replace(/Response$/, 'ListResponse') }
  )

/** The answers of what only does something. */
export const noContent = { 204: Type.Null({ description: 'Done.' }) }

const MARKET_HEADER = 'x-market'
const MarketName = Type.Optional(
  Type.String({
    maxLength: 64,
    description: 'The code of a market; without one, the default market is meant.'
  })
)
/** How a request names its market in the address. */
export const MarketQuery = input({ market: MarketName })
/** How a request names its market in a header. */
export const MarketHeaders = Type.Object({ [MARKET_HEADER]: MarketName })
/** For the schema of routes whose answers depend on the market. */
export const inMarket = { querystring: MarketQuery, headers: MarketHeaders } as const

/** A request to a route with `inMarket`. */
export type MarketRequest = { readonly query: unknown; readonly headers: Readonly<Record<string, unknown>> }
/** The market that a request names. */
export function marketNamed({ query, headers }: MarketRequest): string | undefined {
  const name = (query as Static<typeof MarketQuery>).market ?? headers[MARKET_HEADER]
  return typeof name === 'string' ? name : undefined
}
