import { httpStatusByErrorKind } from '../problem.ts'
import type { JsonBodySizeBounds } from '../routing/body-bounds.ts'
import { isStreamedBody } from '../routing/body-kinds.ts'
import { isCsvResponse } from '../routing/csv-downloads.ts'
import { isItemPathOfCollection } from '../routing/link-headers.ts'
import { isUnsafeMethod } from '../routing/routes.ts'
import type { RouteConfig } from '../routing/tiers.ts'
import { openApiHeaderRef, openApiParameterRef, openApiProblemRef, openApiResponseRef } from './common.ts'

/** Member of an operation that holds its route's config until the document is written. */
export const ROUTE_CONFIG_KEY = 'x-declared'

type Declared = Partial<RouteConfig> & { bounds?: JsonBodySizeBounds }
type Schema = { type?: string; properties?: Record<string, unknown>; required?: readonly string[] }
type Parameter = {
  $ref?: string
  in?: string
  name?: string
  schema?: Schema
  style?: 'deepObject'
  explode?: boolean
}
type ResponseObject = {
  description?: string
  content?: Record<string, { schema?: Schema }>
  headers?: object
}
type Operation = {
  operationId?: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema?: Schema }> }
  security?: object[]
  responses?: Record<string, ResponseObject>
  [ROUTE_CONFIG_KEY]?: Declared
}
export type OpenApiPathOperations = Record<string, Operation>

/** Adds to the operations of a path: an id for generated clients, security, headers and error responses. */
export function describeOpenApiPath(
  path: string,
  operations: OpenApiPathOperations,
  paths: readonly string[]
): OpenApiPathOperations {
  const isVersioned = Object.values(operations).some(({ responses = {} }) =>
    Object.values(responses).some(showsVersion)
  )
  const hasItems = paths.some(each => isItemPathOfCollection(path, each))
  return Object.fromEntries(
    Object.entries(operations).map(([method, operation]) => [
      method,
      describe({ path, method, isVersioned, hasItems }, operation)
    ])
  )
}

type OperationContext = {
  path: string
  method: string
  isVersioned: boolean
  /** Whether a route reads one object of the collection at this path. */
  hasItems: boolean
}

function describe(
  context: OperationContext,
  { [ROUTE_CONFIG_KEY]: declared = {}, ...operation }: Operation
): Operation {
  const { path, method } = context
  const words = path.replace(/^\/api/, '').match(/\w+/g) ?? []
  const isKeyed = isUnsafeMethod(method.toUpperCase()) && !isStreamedBody(declared.body)
  const isShared = declared.cache === 'public'
  const added = [
    ...(isKeyed ? [openApiParameterRef('IdempotencyKey')] : []),
    ...(takesVersion(context, operation, declared) ? [openApiParameterRef('IfMatch')] : []),
    ...(isShared ? [openApiParameterRef('IfNoneMatch')] : [])
  ]
  const parameters = [...(operation.parameters ?? []).map(withStyle), ...added]
  const responses = Object.entries(operation.responses ?? {}).map(([status, answer]) => {
    const headers = {
      ...(isShared && { etag: openApiHeaderRef('ETag') }),
      ...(!isShared && showsVersion(answer) && { etag: openApiHeaderRef('VersionTag') }),
      ...(status === '201' &&
        context.hasItems &&
        shows('id', answer) && { location: openApiHeaderRef('Location') }),
      ...(isCsvResponse(answer) && { 'content-disposition': openApiHeaderRef('ContentDisposition') }),
      ...(method === 'get' && shows('next_cursor', answer) && { link: openApiHeaderRef('Link') }),
      ...(isKeyed &&
        declared.secret !== Number(status) &&
        declared.secret !== 'any' && { 'idempotency-replayed': openApiHeaderRef('IdempotencyReplayed') })
    }
    const lacksDescription = answer.description === undefined || answer.description === 'Default Response'
    const described = lacksDescription
      ? { ...answer, description: describeStatus(status, method, answer) }
      : answer
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
      ...(isShared && { 304: openApiResponseRef('NotModified') }),
      ...Object.fromEntries(
        errorStatusesOf(context, operation, declared).map(status => [status, openApiProblemRef(status)])
      ),
      default: openApiResponseRef('Problem')
    }
  }
}

/** A query parameter that is an object is sent as `name[key]=value`. */
const withStyle = (parameter: Parameter): Parameter =>
  parameter.in === 'query' && parameter.schema?.type === 'object'
    ? { ...parameter, style: 'deepObject', explode: true }
    : parameter

/** Describes a status for which the route has no description. */
function describeStatus(status: string, method: string, answer: ResponseObject): string {
  if (status === '201') return 'Created.'
  if (status === '202') return 'Accepted. The work continues after the response.'
  if (shows('next_cursor', answer)) return 'A page of the list.'
  return method === 'get' ? 'The requested data.' : 'Done. The body shows the result.'
}

const bytesMaxOf = ({ body, bounds }: Declared) => (isStreamedBody(body) ? body.bytesMax : bounds?.bytesMax)

/** A missing body is validated as `{}`, so the body is optional if all its fields are. */
function describeBody(body: NonNullable<Operation['requestBody']>) {
  const { schema } = body.content['application/json'] ?? {}
  const isOptional = schema?.type === 'object' && (schema.required ?? []).length === 0
  return { ...body, required: !isOptional }
}

const shows = (member: string, { content }: ResponseObject): boolean =>
  member in (content?.['application/json']?.schema?.properties ?? {})
const showsVersion = (answer: ResponseObject) => shows('version', answer)

/** Whether a request refers to an object that may not exist: in the path, the body or a header. */
const namesObject = ({ parameters = [], requestBody }: Operation): boolean =>
  parameters.some(({ in: place, name = '' }) => place === 'path' || NAMES_OBJECT.test(name)) ||
  JSON.stringify(requestBody ?? {}).includes('"format":"uuid"')
const NAMES_OBJECT = /^(?:x-)?market$|^x-[a-z-]+-token$/

/** Returns the error statuses that the route's declaration implies. `default` covers all others. */
function errorStatusesOf(
  context: OperationContext,
  operation: Operation,
  declared: Partial<RouteConfig>
): number[] {
  const { path, method } = context
  const isApi = path.startsWith('/api/')
  const isKnown = (operation.security ?? []).length > 0
  const isKeyed = isUnsafeMethod(method.toUpperCase()) && !isStreamedBody(declared.body)
  const hasBody = operation.requestBody !== undefined
  const statuses: [number, boolean][] = [
    [400, true],
    [401, isKnown],
    [403, isKnown],
    [404, namesObject(operation)],
    [409, isKeyed],
    [412, takesVersion(context, operation, declared)],
    [413, hasBody],
    [415, hasBody],
    [422, isKeyed],
    [429, isApi],
    [503, isApi]
  ]
  const domain = (declared.errors ?? []).map(kind => httpStatusByErrorKind[kind])
  const all = [...statuses.filter(([, isPossible]) => isPossible).map(([status]) => status), ...domain]
  return [...new Set(all)].sort((a, b) => a - b)
}

/** Whether the operation takes If-Match. Creating an object does not, because there is no version to compare. */
function takesVersion(
  context: OperationContext,
  { responses = {} }: Operation,
  { noReplay, unversioned }: Partial<RouteConfig>
) {
  const { path, method, isVersioned } = context
  const isNew = !path.includes('{') && '201' in responses && !('200' in responses)
  return (
    isVersioned &&
    isUnsafeMethod(method.toUpperCase()) &&
    !isNew &&
    noReplay === undefined &&
    unversioned !== true
  )
}
