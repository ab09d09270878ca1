import type { TestShop } from '../../src/testing.ts'

type Schema = {
  $ref?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
}
type Parameter = { $ref?: string; in?: string; name?: string }
type Operation = {
  tags?: string[]
  security?: { bearer: string[] }[]
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  /** The longest body in bytes, of routes that read JSON. */
  'x-body-bytes-max'?: number
  responses: Record<
    string,
    { headers?: Record<string, Parameter>; content?: Record<string, { schema: Schema }> }
  >
}
export type Route = {
  name: string
  method: string
  path: string
  module: string
  /** Who may call the route: every client, clients with an access token, or administrators. */
  tier: 'public' | 'secured' | 'admin'
  /** The name of the schema of its body; empty without one. */
  body: string
  contentType: string | undefined
  /** Names of the ids in path, query and body. */
  ids: string[]
  /** The operation in the OpenAPI document. */
  operation: Operation
}

/** Tags that are not named after the module of their routes of administrators. */
const MODULE_OF_TAG: ReadonlyMap<string, string> = new Map([['guest orders', 'orders']])

/** Reads the routes from the OpenAPI document. */
export async function routesOf(shop: Pick<TestShop, 'request'>): Promise<Route[]> {
  const { json } = await shop.request('GET', '/openapi.json')
  const { paths, components } = json as {
    paths: Record<string, Record<string, Operation>>
    components: { schemas: Record<string, Schema> }
  }
  const named = ({ $ref = '' }: { $ref?: string }) => $ref.split('/').at(-1) ?? ''
  const namesIn = (schema: Schema, seen: readonly string[] = []): string[] => {
    const name = named(schema)
    if (seen.includes(name)) return []
    const { properties = {}, items, anyOf = [], oneOf = [] } = components.schemas[name] ?? schema
    const parts = [...Object.values(properties), ...(items ? [items] : []), ...anyOf, ...oneOf]
    return [
      ...Object.keys(properties),
      ...parts.flatMap(part => namesIn(part, name ? [...seen, name] : seen))
    ]
  }
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const { tags = [], security = [], parameters = [], requestBody } = operation
      const [contentType, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
      const inQuery = parameters.flatMap(each => (each.in === 'query' && each.name ? [each.name] : []))
      const names = [...inQuery, ...(content ? namesIn(content.schema) : [])]
      return {
        name: `${method} ${path}`,
        method: method.toUpperCase(),
        path,
        module: MODULE_OF_TAG.get(tags[0] ?? '') ?? tags[0] ?? '',
        tier: tierOf(security),
        body: content ? named(content.schema) : '',
        contentType,
        ids: [...(path.match(/\{\w+\}/g) ?? []), ...new Set(names.filter(name => ID.test(name)))],
        operation
      }
    })
  )
}
const tierOf = ([requirement]: { bearer: string[] }[]): Route['tier'] => {
  if (requirement === undefined) return 'public'
  return requirement.bearer.includes('admin') ? 'admin' : 'secured'
}
/** Names of ids; a VAT id is no id of a resource. */
const ID = /(?<!vat)_ids?$/

/** Who may call a route, and who owns the resource that it is about. */
export type AccessRow =
  /** Administrators with the scope of the module; `requiresFullAccess`: unlimited ones; `anyScope`: all administrators. */
  | { of: 'staff'; requiresFullAccess: boolean; anyScope: boolean }
  /** The owner of the resource: a customer with a token, or a guest with a header. */
  | { of: 'owner'; thing: OwnedResource }
  /** A customer, of themselves. */
  | { of: 'self' }
  | { of: 'public' }
/** A review is named by its product. */
export type OwnedResource = 'order' | 'checkout' | 'line' | 'address' | 'session' | 'review'

const STAFF =
  /^\/api\/(admin|catalog|inventory(?!\/availability$)|auth\/invitations|auth\/api-keys|auth\/second-factor)(\/|$)/
const FULL_ACCESS = /^\/api\/admin\/(users|audit|config)(\/|$)/
/** Routes about the administrator's own account, and the feed, which shows only events of the caller's modules. */
const ANY_SCOPE = /^\/api\/auth\/second-factor(\/|$)|^\/api\/admin\/events\/feed$/
const THINGS: readonly [RegExp, OwnedResource][] = [
  [/ \/api\/auth\/addresses\//, 'address'],
  [/ \/api\/auth\/sessions\//, 'session'],
  [/ \/api\/cart\/lines\//, 'line'],
  [/ \/api\/checkouts\/(?!guest$)/, 'checkout'],
  [/ \/api\/(orders|payments|shipping)\/(?!(orders\/)?guest$)/, 'order'],
  // Each caller creates a review of their own.
  [/^(put|delete) \/api\/products\/\{id\}\/reviews$| \/api\/products\/\{id\}\/reviews\/mine$/, 'review']
]
/** Ids of public resources. */
const COMMON = /^(variant_ids?|\{variantId\})$/
/** Routes without a token, and why they reveal nothing about a customer. */
const PUBLIC_ROUTES: readonly [RegExp, string][] = [
  [/^\/api\/(products|categories|markets|countries|inventory\/availability)(\/|$)/, 'what the shop sells'],
  [/^\/api\/payments\/methods$|^\/api\/shipping\/rates$/, 'payment methods and shipping rates'],
  [/^\/api\/auth\/(register|login|forgot)$/, 'a new account, a password, or a mail to its owner'],
  [
    /^\/api\/auth\/(refresh|verify|reset|token|login\/second-factor)$|^\/api\/notifications\/unsubscribe$/,
    'a secret in the request'
  ],
  [/^\/api\/guest-cart(\/|$)/, 'a secret in a header, held by src/modules/cart/ownership.test.ts'],
  [/^\/api\/(orders|checkouts)\/guest$/, 'creates a new order or checkout'],
  [
    /^\/api\/orders\/guest\/data-requests(\/confirm)?$/,
    'the response is the same for every address, or the request has a secret from the mail'
  ],
  [/^\/api\/payments\/callback\/\{provider\}$/, 'signed by the provider'],
  [/^\/api\/shipping\/track\/\{tracking_number\}$/, 'the location of a parcel, and nothing about its owner'],
  [/^\/\.well-known\/jwks\.json$/, 'public keys'],
  [/^\/(healthz|readyz|metricsz?)$/, 'the state of the process']
]

/** Returns the row of a route in the table. @throws an error that states what to add when the route has none. */
export function accessRowOf({
  name,
  path,
  tier,
  ids
}: Pick<Route, 'name' | 'path' | 'tier' | 'ids'>): AccessRow {
  const isStaff = tier === 'admin'
  if (STAFF.test(path) !== isStaff)
    throw new Error(
      `${name} is of the tier ${tier}: the paths of administrators, and no others, are those of STAFF of test/never/routes.ts`
    )
  if (isStaff)
    return { of: 'staff', requiresFullAccess: FULL_ACCESS.test(path), anyScope: ANY_SCOPE.test(path) }
  if (tier === 'public' && PUBLIC_ROUTES.some(([pattern]) => pattern.test(path))) return { of: 'public' }
  const owned = ids.filter(id => !COMMON.test(id))
  const [, thing] = THINGS.find(([pattern]) => pattern.test(name)) ?? []
  if (owned.length > 0 && thing !== undefined) return { of: 'owner', thing }
  if (owned.length > 0 && !REVIEWS.test(name))
    throw new Error(`${name} takes ${owned.join(', ')}: say in THINGS of test/never/routes.ts whose that is`)
  if (tier === 'secured') return { of: 'self' }
  throw new Error(`${name} asks for no token: say in PUBLIC_ROUTES of test/never/routes.ts why it needs none`)
}
const REVIEWS = /^post \/api\/products\/\{id\}\/reviews$/
