import { compileSchema } from '../../src/kernel/compile-schema.ts'
import type { RequestOptions } from '../../src/testing.ts'
import { type Route, routesOf } from '../never/routes.ts'
import { followed } from '../support/references.ts'
import type { Prepared } from './fixture.ts'
import { type FixtureModule, fixturesIn } from './fixtures/index.ts'
import type { World } from './world.ts'

/** An operation with a request that it accepts. */
export type Ready = Route & { request: Sendable }
export type Sendable = Required<Pick<Prepared, 'params' | 'query' | 'headers'>> & {
  body: unknown
  token: string | undefined
}
/** What the document says of the operations of a shop. */
export type Contract = Awaited<ReturnType<typeof readContract>>

export async function readContract(shop: Pick<World, 'request'>) {
  const routes = await routesOf(shop)
  const { json } = await shop.request('GET', '/openapi.json')
  const hasParameter = ({ operation }: Route, name: string) =>
    operation.parameters?.some(({ $ref }) => $ref?.endsWith(`/${name}`)) === true
  /** Whether the response with this status has a header. */
  const names = ({ operation }: Route, status: number, header: string) =>
    operation.responses[status]?.headers?.[header] !== undefined
  return {
    routes,
    isKeyed: (route: Route) => hasParameter(route, 'IdempotencyKey'),
    isConditional: (route: Route) => hasParameter(route, 'IfMatch'),
    isJson: ({ contentType }: Route) => contentType === 'application/json',
    /** Whether every field of the body may be missing. */
    isOptional: ({ operation, contentType }: Route) => {
      const schema = operation.requestBody?.content[contentType ?? '']?.schema
      return schema !== undefined && compileSchema(followed(schema, json.components.schemas))({}).length === 0
    },
    /** Whether the body has a field `metadata`. */
    takesMetadata: ({ operation, contentType }: Route) => {
      const schema = operation.requestBody?.content[contentType ?? '']?.schema
      return (
        schema !== undefined && 'metadata' in (followed(schema, json.components.schemas).properties ?? {})
      )
    },
    /** Whether a repeated request gets the first response again: responses with secrets are not stored. */
    isReplayed: (route: Route, status: number) => names(route, status, 'idempotency-replayed'),
    names
  }
}

/** A new request for a route. @throws when the route has no fixture. */
export async function prepare(
  world: World,
  route: Route,
  modules: readonly FixtureModule[]
): Promise<Sendable> {
  const fixture = fixturesIn(modules).get(route.name)
  if (fixture === undefined) throw new Error(noFixture(route))
  const { params = {}, query = {}, headers = {}, body, token }: Prepared = await fixture(world)
  const callers = { admin: world.token, secured: world.ada.token, public: undefined }
  return { params, query, headers, body, token: token ?? callers[route.tier] }
}

/** Says what to add for a new operation. */
export const noFixture = ({ name }: Route): string =>
  `${name} has no fixture: add one to the file of its module in test/contract/fixtures`

/** Where a request goes. */
export function targetOf({ path }: Route, { params, query }: Sendable): string {
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams(query).toString()
  return search === '' ? filled : `${filled}?${search}`
}

export const optionsOf = ({ headers, body, token }: Sendable): RequestOptions => ({
  headers,
  ...(token !== undefined && { token }),
  ...(body !== undefined && { body })
})
