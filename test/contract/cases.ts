import { newId } from '../../src/kernel/ids.ts'
import { METADATA_KEYS_MAX } from '../../src/kernel/metadata.ts'
import { rowOf } from '../never/routes.ts'
import type { Contract, Ready, Sendable } from './requests.ts'
import type { World } from './world.ts'

export type Case = {
  name: string
  /** The operations that the case is about. */
  isFor(route: Ready, contract: Contract): boolean
  /** The request with one thing wrong. */
  spoil(request: Sendable, route: Ready, world: World): Sendable
  status: number
  /** The code of the error. */
  code: RegExp
}

const UNKNOWN_VERSION = '"999999"'
/** Before the first one. */
const FORMER_VERSION = '"0"'
const BODY_BYTES_MAX = 1_048_576
/** What a client announces that sends a file of this length. */
const FILE_BYTES = '999999999999'
const UUID = /^[\da-f]{8}-/
const isUuid = (value: string) => UUID.test(value)
const isObject = (body: unknown): body is object =>
  typeof body === 'object' && body !== null && !Buffer.isBuffer(body) && !Array.isArray(body)

/** Words of a path that are no ids, and ones that do not exist. */
const UNKNOWN_WORDS: Readonly<Record<string, string>> = {
  country: 'ZZ',
  provider: 'unknown',
  name: 'welcome',
  locale: 'xx',
  tracking_number: 'UNKNOWN1'
}
const unknown = (name: string, value: string) =>
  isUuid(value) ? newId() : (UNKNOWN_WORDS[name] ?? '999999999')

/** Routes that accept an id that no other route knows, and the reason. */
const ACCEPTS_UNKNOWN: ReadonlyMap<string, string> = new Map([
  ['delete /api/cart/items/{variantId}', 'an absent item is the wanted outcome'],
  ['delete /api/guest-cart/items/{variantId}', 'an absent item is the wanted outcome'],
  [
    'get /api/admin/notifications/templates/{name}/{locale}',
    'a locale without a template has the default one'
  ],
  ['put /api/admin/notifications/templates/{name}/{locale}', 'it makes the template of a locale'],
  ['patch /api/inventory/items/{id}', 'stock is counted for ids of a catalog elsewhere, too'],
  ['put /api/inventory/items/{id}/components', 'stock is counted for ids of a catalog elsewhere, too'],
  ['put /api/inventory/levels/{variantId}', 'stock is counted for ids of a catalog elsewhere, too']
])

/** Resources with version 0: a template without changes. */
const BEGINS_AT_ZERO = 'put /api/admin/notifications/templates/{name}/{locale}'

/** Compares no condition here, because it changes nothing: the fixture asks for an export. */
const CHANGES_NOTHING = 'post /api/orders/guest/data-requests/confirm'

/** Routes that take a slug, a code or a number, too. */
const TAKES_NAMES = /^\w+ \/api\/(products|categories|admin\/markets|shipping\/track)\//

/** Routes after which the token of their caller is refused, so that a repeated key is, too. */
export const ENDS_OWN_SESSION: ReadonlySet<string> = new Set([
  'post /api/auth/me/delete',
  'post /api/auth/logout'
])

const tooManyKeys = Object.fromEntries(
  Array.from({ length: METADATA_KEYS_MAX + 1 }, (_, index) => [`key ${index}`, 'x'])
)
const withMetadata = (request: Sendable, metadata: object): Sendable => ({
  ...request,
  body: { ...(request.body as object), metadata }
})

const deep = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`

/** What each operation refuses, with the status. None of these requests changes anything. */
export const refusals: readonly Case[] = [
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
    spoil: (request, route) => tooLong(request, route),
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
function tooLong(request: Sendable, { operation, contentType }: Ready): Sendable {
  if (contentType !== 'application/json') return withHeader(request, 'content-length', FILE_BYTES)
  const bytesMax = operation['x-body-bytes-max'] ?? BODY_BYTES_MAX
  return { ...request, body: JSON.stringify(request.body ?? {}).padEnd(bytesMax + 1) }
}

const withHeader = (request: Sendable, name: string, value: string): Sendable => ({
  ...request,
  headers: { ...request.headers, [name]: value }
})

/** The same request for a thing that does not exist: a review is named by its product. */
export const forNothing = (request: Sendable, route: Ready, { unreviewed }: World): Sendable => {
  const row = rowOf(route)
  const id = row.of === 'owner' && row.thing === 'review' ? unreviewed : newId()
  return {
    ...request,
    params: Object.fromEntries(Object.keys(request.params).map(name => [name, id])),
    body:
      isObject(request.body) && 'order_id' in request.body ? { ...request.body, order_id: id } : request.body
  }
}

/** Operations on what belongs to one customer or guest. */
export const isOwned = (route: Ready) => rowOf(route).of === 'owner'
