import { newId } from '../../src/kernel/ids.ts'
import { METADATA_KEYS_MAX } from '../../src/kernel/metadata.ts'
import { accessRowOf } from '../never/routes.ts'
import type { Contract, ReadyOperation, SendableRequest } from './requests.ts'
import type { ContractShop } from './world.ts'

export type RefusalCase = {
  name: string
  /** The operations that the case is about. */
  isFor(route: ReadyOperation, contract: Contract): boolean
  /** Returns the request with one error. */
  spoil(request: SendableRequest, route: ReadyOperation, world: ContractShop): SendableRequest
  status: number
  /** The code of the error. */
  code: RegExp
}

const UNKNOWN_VERSION = '"999999"'
/** Versions start at 1. */
const FORMER_VERSION = '"0"'
const BODY_BYTES_MAX = 1_048_576
/** The Content-Length of a file of a terabyte. */
const FILE_BYTES = '999999999999'
const UUID = /^[\da-f]{8}-/
const isUuid = (value: string) => UUID.test(value)
const isObject = (body: unknown): body is object =>
  typeof body === 'object' && body !== null && !Buffer.isBuffer(body) && !Array.isArray(body)

/** Missing values of path parameters that are no ids. */
const UNKNOWN_WORDS: Readonly<Record<string, string>> = {
  country: 'ZZ',
  provider: 'unknown',
  name: 'welcome',
  locale: 'xx',
  tracking_number: 'UNKNOWN1'
}
const unknown = (name: string, value: string) =>
  isUuid(value) ? newId() : (UNKNOWN_WORDS[name] ?? '999999999')

/** Routes that accept an unknown id, and the reason. */
const ACCEPTS_UNKNOWN: ReadonlyMap<string, string> = new Map([
  ['delete /api/cart/items/{variantId}', 'an absent item is the wanted outcome'],
  ['delete /api/guest-cart/items/{variantId}', 'an absent item is the wanted outcome'],
  [
    'get /api/admin/notifications/templates/{name}/{locale}',
    'a locale without a template has the default one'
  ],
  ['put /api/admin/notifications/templates/{name}/{locale}', 'the request creates the template of a locale'],
  ['patch /api/inventory/items/{id}', 'the catalog may be another system, so every id is accepted'],
  ['put /api/inventory/items/{id}/components', 'the catalog may be another system, so every id is accepted'],
  ['put /api/inventory/levels/{variantId}', 'the catalog may be another system, so every id is accepted']
])

/** Resources with version 0: a template without changes. */
const BEGINS_AT_ZERO = 'put /api/admin/notifications/templates/{name}/{locale}'

/** Does not compare If-Match, because the fixture requests an export, which changes nothing. */
const CHANGES_NOTHING = 'post /api/orders/guest/data-requests/confirm'

/** Routes that accept a slug, a code or a number as well as an id. */
const TAKES_NAMES = /^\w+ \/api\/(products|categories|admin\/markets|shipping\/track)\//

/** Routes that invalidate the token of their caller, so that a repeated request is rejected. */
export const ENDS_OWN_SESSION: ReadonlySet<string> = new Set([
  'post /api/auth/me/delete',
  'post /api/auth/logout'
])

const tooManyKeys = Object.fromEntries(
  Array.from({ length: METADATA_KEYS_MAX + 1 }, (_, index) => [`key ${index}`, 'x'])
)
const withMetadata = (request: SendableRequest, metadata: object): SendableRequest => ({
  ...request,
  body: { ...(request.body as object), metadata }
})

const deep = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`

/** Requests that every matching operation rejects, with the status. None changes a row. */
export const refusalCases: readonly RefusalCase[] = [
  {
    name: 'without a token: 401',
    isFor: ({ tier }) => tier !== 'public',
    spoil: request => ({ ...request, token: undefined }),
    status: 401,
    code: /^AUTHENTICATION_REQUIRED$/
  },
  {
    name: 'with a token of a customer, where an administrator is required: 403',
    isFor: ({ tier }) => tier === 'admin',
    spoil: (request, _route, { eve }) => ({ ...request, token: eve.token }),
    status: 403,
    code: /^ADMIN_REQUIRED$/
  },
  {
    name: 'with an id that does not exist: 404',
    isFor: ({ path, name }) => path.includes('{') && !ACCEPTS_UNKNOWN.has(name),
    spoil: request => ({
      ...request,
      params: Object.fromEntries(
        Object.entries(request.params).map(([name, value]) => [name, unknown(name, value)])
      )
    }),
    status: 404,
    code: /_(NOT_FOUND|UNKNOWN)$/
  },
  {
    name: 'with an id that is no UUID: 400',
    isFor: ({ name, request }) => !TAKES_NAMES.test(name) && Object.values(request.params).some(isUuid),
    spoil: request => ({
      ...request,
      params: Object.fromEntries(
        Object.entries(request.params).map(([name, value]) => [name, isUuid(value) ? 'x' : value])
      )
    }),
    status: 400,
    code: /^VALIDATION_FAILED$/
  },
  {
    name: 'with a stale If-Match: 412',
    isFor: (route, { isConditional }) => isConditional(route),
    spoil: request => withHeader(request, 'if-match', UNKNOWN_VERSION),
    status: 412,
    code: /_STALE$/
  },
  {
    name: 'with a former If-Match: 412',
    isFor: (route, { isConditional }) => isConditional(route) && route.name !== BEGINS_AT_ZERO,
    spoil: request => withHeader(request, 'if-match', FORMER_VERSION),
    status: 412,
    code: /_STALE$/
  },
  {
    name: 'with If-Match, where nothing has a version: 412',
    isFor: (route, { isConditional }) =>
      route.method !== 'GET' && route.name !== CHANGES_NOTHING && !isConditional(route),
    spoil: request => withHeader(request, 'if-match', UNKNOWN_VERSION),
    status: 412,
    code: /^IF_MATCH_NOT_SUPPORTED$/
  },
  {
    name: 'with a weak If-Match: 412',
    isFor: (route, { isConditional }) => isConditional(route),
    spoil: request => withHeader(request, 'if-match', 'W/"1"'),
    status: 412,
    code: /_STALE$/
  },
  {
    name: 'with a field that does not exist: 400',
    isFor: (route, { isJson }) => isJson(route) && isObject(route.request.body),
    spoil: request => ({ ...request, body: { ...(request.body as object), no_such_field: 1 } }),
    status: 400,
    code: /^VALIDATION_FAILED$/
  },
  {
    name: 'with a 51st key of metadata: 400',
    isFor: (route, { takesMetadata }) => takesMetadata(route),
    spoil: request => withMetadata(request, tooManyKeys),
    status: 400,
    code: /^VALIDATION_FAILED$/
  },
  {
    name: 'with a value of metadata of 501 characters: 400',
    isFor: (route, { takesMetadata }) => takesMetadata(route),
    spoil: request => withMetadata(request, { key: 'x'.repeat(501) }),
    status: 400,
    code: /^VALIDATION_FAILED$/
  },
  {
    name: 'without a body, where a field is required: 400',
    isFor: (route, { isJson, isOptional }) => isJson(route) && !isOptional(route),
    spoil: request => ({ ...request, body: undefined }),
    status: 400,
    code: /^VALIDATION_FAILED$/
  },
  {
    name: 'with a body above the limit: 413',
    isFor: ({ operation }) => operation.requestBody !== undefined,
    spoil: (request, route) => withTooLongBody(request, route),
    status: 413,
    code: /^BODY_TOO_LARGE$/
  },
  {
    name: 'with a body of another media type: 415',
    isFor: ({ operation }) => operation.requestBody !== undefined,
    spoil: request => withHeader({ ...request, body: 'a=1' }, 'content-type', 'text/plain'),
    status: 415,
    code: /^UNSUPPORTED_MEDIA_TYPE$/
  },
  {
    name: 'with a body that is nested too deeply: 400',
    isFor: (route, { isJson }) => isJson(route),
    spoil: request => ({ ...request, body: deep }),
    status: 400,
    code: /^MALFORMED_JSON$/
  }
]

/** A JSON body of one byte more than the route allows, or a file that is announced as a terabyte. */
function withTooLongBody(
  request: SendableRequest,
  { operation, contentType }: ReadyOperation
): SendableRequest {
  if (contentType !== 'application/json') return withHeader(request, 'content-length', FILE_BYTES)
  const bytesMax = operation['x-body-bytes-max'] ?? BODY_BYTES_MAX
  return { ...request, body: JSON.stringify(request.body ?? {}).padEnd(bytesMax + 1) }
}

const withHeader = (request: SendableRequest, name: string, value: string): SendableRequest => ({
  ...request,
  headers: { ...request.headers, [name]: value }
})

/** Returns the request for a missing resource. A review is named by its product. */
export const forMissingResource = (
  request: SendableRequest,
  route: ReadyOperation,
  { unreviewed }: ContractShop
): SendableRequest => {
  const row = accessRowOf(route)
  const id = row.of === 'owner' && row.thing === 'review' ? unreviewed : newId()
  return {
    ...request,
    params: Object.fromEntries(Object.keys(request.params).map(name => [name, id])),
    body:
      isObject(request.body) && 'order_id' in request.body ? { ...request.body, order_id: id } : request.body
  }
}

/** Whether the operation is about a resource of one customer or guest. */
export const isOwned = (route: ReadyOperation) => accessRowOf(route).of === 'owner'
