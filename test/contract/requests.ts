import { compileSchema } from '../../src/kernel/compile-schema.ts'
import type { RequestOptions } from '../../src/testing.ts'
import { type Route, routesOf } from '../never/routes.ts'
import { resolveReferences } from '../support/references.ts'
import type { PreparedRequest } from './fixture.ts'
import { type FixtureModule, fixturesIn } from './fixtures/index.ts'
import type { ContractShop } from './world.ts'

/** An operation with a request that it accepts. */
export type ReadyOperation = Route & { request: SendableRequest }
export type SendableRequest = Required<Pick<PreparedRequest, 'params' | 'query' | 'headers'>> & {
  body: unknown
  token: string | undefined
}
/** The operations of the OpenAPI document and their properties. */
export type Contract = Awaited<ReturnType<typeof readContract>>

export async function readContract(shop: Pick<ContractShop, 'request'>) {
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
      return (
        schema !== undefined &&
        compileSchema(resolveReferences(schema, json.components.schemas))({}).length === 0
      )
    },
    /** Whether the body has a field `metadata`. */
    takesMetadata: ({ operation, contentType }: Route) => {
      const schema = operation.requestBody?.content[contentType ?? '']?.schema
      return (
        schema !== undefined &&
        'metadata' in (resolveReferences(schema, json.components.schemas).properties ?? {})
      )
    },
    /** Whether a repeated request gets the first response again: responses with secrets are not stored. */
    isReplayed: (route: Route, status: number) => names(route, status, 'idempotency-replayed'),
    names
  }
}

/** A new request for a route. @throws when the route has no fixture. */
export async function prepare(
  world: ContractShop,
  route: Route,
  modules: readonly FixtureModule[]
): Promise<SendableRequest> {
  const fixture = fixturesIn(modules).get(route.name)
  if (fixture === undefined) throw new Error(noFixture(route))
  const { params = {}, query = {}, headers = {}, body, token }: PreparedRequest = await fixture(world)
  const callers = { admin: world.token, secured: world.ada.token, public: undefined }
  return { params, query, headers, body, token: token ?? callers[route.tier] }
}

/** The error text for an operation without a fixture. */
export const noFixture = ({ name }: Route): string =>
  `${name} has no fixture: add one to the file of its module in test/contract/fixtures`

/** The path and query of a request. */
export function targetOf({ path }: Route, { params, query }: SendableRequest): string {
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams(query).toString()
  return search === '' ? filled : `${filled}?${search}`
}

export const optionsOf = ({ headers, body, token }: SendableRequest): RequestOptions => ({
  headers,
  ...(token !== undefined && { token }),
  ...(body !== undefined && { body })
})
