import { STATUS_CODES } from '../../platform/node-http.ts'
import { isStreamed } from '../routing/bodies.ts'
import type { BodyBounds } from '../routing/body-bounds.ts'
import { isUnsafe } from '../routing/routes.ts'
import type { RouteConfig } from '../routing/tiers.ts'
import { headerRef, parameterRef, responseRef } from './common.ts'

/** Carries what its route declares to an operation, until the document is written. */
export const DECLARED = 'x-declared'

type Declared = Partial<RouteConfig> & { bounds?: BodyBounds }
type Schema = { properties?: Record<string, unknown> }
type Answer = { description?: string; content?: Record<string, { schema?: Schema }>; headers?: object }
type Operation = {
  operationId?: string
  parameters?: object[]
  requestBody?: object
  security?: object[]
  responses?: Record<string, Answer>
  [DECLARED]?: Declared
}
export type Operations = Record<string, Operation>

/** The operations of a path, each with what every one has: a name for generated clients, who may ask, its headers. */
export function describePath(path: string, operations: Operations): Operations {
  const isVersioned = Object.values(operations).some(({ responses = {} }) =>
    Object.values(responses).some(showsVersion)
  )
  return Object.fromEntries(
    Object.entries(operations).map(([method, operation]) => [
      method,
      describe({ path, method, isVersioned }, operation)
    ])
  )
}

type Place = { path: string; method: string; isVersioned: boolean }

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
    ...(operation.requestBody !== undefined &&
      declared.bounds !== undefined && { 'x-body-bytes-max': declared.bounds.bytesMax }),
    ...(parameters.length > 0 && { parameters }),
    security: operation.security ?? [],
    responses: {
      ...Object.fromEntries(responses),
      ...(isShared && { 304: responseRef('NotModified') }),
      '4XX': responseRef('Problem'),
      default: responseRef('Problem')
    }
  }
}

const showsVersion = ({ content }: Answer): boolean =>
  'version' in (content?.['application/json']?.schema?.properties ?? {})

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
