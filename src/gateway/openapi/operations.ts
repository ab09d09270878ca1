import { STATUS_CODES } from '../../platform/node-http.ts'
import { statusOfKind } from '../problem.ts'
import { isStreamed } from '../routing/bodies.ts'
import type { BodyBounds } from '../routing/body-bounds.ts'
import { isCsv } from '../routing/files.ts'
import { isItemOf } from '../routing/links.ts'
import { isUnsafe } from '../routing/routes.ts'
import type { RouteConfig } from '../routing/tiers.ts'
import { headerRef, parameterRef, responseRef } from './common.ts'

/** Carries what its route declares to an operation, until the document is written. */
export const DECLARED = 'x-declared'

type Declared = Partial<RouteConfig> & { bounds?: BodyBounds }
type Schema = { type?: string; properties?: Record<string, unknown>; required?: readonly string[] }
type Answer = { description?: string; content?: Record<string, { schema?: Schema }>; headers?: object }
type Operation = {
  operationId?: string
  parameters?: { $ref?: string; in?: string; name?: string }[]
  requestBody?: { content: Record<string, { schema?: Schema }> }
  security?: object[]
  responses?: Record<string, Answer>
  [DECLARED]?: Declared
}
export type Operations = Record<string, Operation>

/** The operations of a path, each with what every one has: a name for generated clients, who may ask, its headers. */
export function describePath(path: string, operations: Operations, paths: readonly string[]): Operations {
  const isVersioned = Object.values(operations).some(({ responses = {} }) =>
    Object.values(responses).some(showsVersion)
  )
  const hasItems = paths.some(each => isItemOf(path, each))
  return Object.fromEntries(
    Object.entries(operations).map(([method, operation]) => [
      method,
      describe({ path, method, isVersioned, hasItems }, operation)
    ])
  )
}

type Place = {
  path: string
  method: string
  isVersioned: boolean
  /** Whether a route reads one thing of the collection at this path. */
  hasItems: boolean
}

function describe(place: Place, { [DECLARED]: declared = {}, ...operation }: Operation): Operation {
  const { path, method } = place
  const words = path.replace(/^\/api/, '').match(/\w+/g) ?? []
  const isKeyed = isUnsafe(method.toUpperCase()) && !isStreamed(declared.body)
  const isShared = declared.cache === 'public'
  const added = [
    ...(isKeyed ? [parameterRef('IdempotencyKey')] : []),
    ...(takesVersion(place, operation, declared) ? [parameterRef('IfMatch')] : []),
    ...(isShared ? [parameterRef('IfNoneMatch')] : [])
  ]
  const parameters = [...(operation.parameters ?? []), ...added]
  const responses = Object.entries(operation.responses ?? {}).map(([status, answer]) => {
    const headers = {
      ...(isShared && { etag: headerRef('ETag') }),
      ...(!isShared && showsVersion(answer) && { etag: headerRef('VersionTag') }),
      ...(status === '201' && place.hasItems && shows('id', answer) && { location: headerRef('Location') }),
      ...(isCsv(answer) && { 'content-disposition': headerRef('ContentDisposition') }),
      ...(method === 'get' && shows('next_cursor', answer) && { link: headerRef('Link') }),
      ...(isKeyed &&
        declared.secret !== Number(status) &&
        declared.secret !== 'any' && { 'idempotency-replayed': headerRef('IdempotencyReplayed') })
    }
    const isSilent = answer.description === undefined || answer.description === 'Default Response'
    const described = isSilent ? { ...answer, description: STATUS_CODES[status] } : answer
    return [status, Object.keys(headers).length > 0 ? { ...described, headers } : described]
  })
  return {
    ...operation,
    operationId: [method, ...words].join('_'),
    ...(operation.requestBody && { requestBody: describeBody(operation.requestBody) }),
    ...(operation.requestBody && { 'x-body-bytes-max': bytesMaxOf(declared) }),
    ...(declared.countsAs !== undefined && { 'x-counts-as': declared.countsAs }),
    ...(declared.limit && { 'x-requests-per-minute': declared.limit.perMinute }),
    ...(parameters.length > 0 && { parameters }),
    security: operation.security ?? [],
    responses: {
      ...Object.fromEntries(responses),
      ...(isShared && { 304: responseRef('NotModified') }),
      ...Object.fromEntries(
        refusalsOf(place, operation, declared).map(status => [status, responseRef('Problem')])
      ),
      default: responseRef('Problem')
    }
  }
}

const bytesMaxOf = ({ body, bounds }: Declared) => (isStreamed(body) ? body.bytesMax : bounds?.bytesMax)

/** No body is `{}`, so a body may be missing where each of its fields may. */
function describeBody(body: NonNullable<Operation['requestBody']>) {
  const { schema } = body.content['application/json'] ?? {}
  const isOptional = schema?.type === 'object' && (schema.required ?? []).length === 0
  return { ...body, required: !isOptional }
}

const shows = (member: string, { content }: Answer): boolean =>
  member in (content?.['application/json']?.schema?.properties ?? {})
const showsVersion = (answer: Answer) => shows('version', answer)

/** Whether a request names something that may not exist: in the path, by an id in the body, or by a header. */
const namesThings = ({ parameters = [], requestBody }: Operation): boolean =>
  parameters.some(({ in: place, name = '' }) => place === 'path' || NAMES_THING.test(name)) ||
  JSON.stringify(requestBody ?? {}).includes('"format":"uuid"')
const NAMES_THING = /^(?:x-)?market$|^x-[a-z-]+-token$/

/** The statuses of errors that follow from what a route declares. `default` covers what any server may answer. */
function refusalsOf(place: Place, operation: Operation, declared: Partial<RouteConfig>): number[] {
  const { path, method } = place
  const isApi = path.startsWith('/api/')
  const isKnown = (operation.security ?? []).length > 0
  const isKeyed = isUnsafe(method.toUpperCase()) && !isStreamed(declared.body)
  const hasBody = operation.requestBody !== undefined
  const statuses: [number, boolean][] = [
    [400, true],
    [401, isKnown],
    [403, isKnown],
    [404, namesThings(operation)],
    [409, isKeyed],
    [412, takesVersion(place, operation, declared)],
    [413, hasBody],
    [415, hasBody],
    [422, isKeyed],
    [429, isApi],
    [503, isApi]
  ]
  const domain = (declared.errors ?? []).map(kind => statusOfKind[kind])
  const all = [...statuses.filter(([, isPossible]) => isPossible).map(([status]) => status), ...domain]
  return [...new Set(all)].sort((a, b) => a - b)
}

/** What is made at a path without parameters is new: no version of it is there yet that could be compared. */
function takesVersion(
  place: Place,
  { responses = {} }: Operation,
  { unwritten, unversioned }: Partial<RouteConfig>
) {
  const { path, method, isVersioned } = place
  const isNew = !path.includes('{') && '201' in responses && !('200' in responses)
  return (
    isVersioned && isUnsafe(method.toUpperCase()) && !isNew && unwritten === undefined && unversioned !== true
  )
}
