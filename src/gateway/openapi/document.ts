import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { SHARED } from '../routing/answer-headers.ts'
import { isStreamed } from '../routing/bodies.ts'
import type { BodyKind } from '../routing/tiers.ts'
import { namedSchemas } from './components.ts'

/** Registers the collector; it has to come before the routes that it is to describe. */
export async function collectOpenApi(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Cartwright',
        description: 'A headless commerce engine. Errors are application/problem+json (RFC 9457).',
        version
      },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } }
    },
    transform: ({ schema, url, route: { config } }) => ({
      schema: withFile({ tags: [config?.owner ?? 'shop'], ...schema }, config?.body),
      url
    })
  })
}

/** A body that is read as a stream has no schema, so that nobody validates it; for readers it is a file. */
const withFile = <S extends FastifySchema>(schema: S, body: BodyKind | undefined): S =>
  isStreamed(body) ? { ...schema, body: { type: 'string', format: 'binary' } } : schema

type Operation = {
  operationId?: string
  parameters?: object[]
  requestBody?: { content: Record<string, object> }
  responses?: Record<string, object>
  [SHARED]?: true
}
type Document = { paths: Record<string, Record<string, Operation>>; components: Record<string, object> }

const text = { type: 'string' }
const PROBLEM = {
  type: 'object',
  description: 'RFC 9457. Some codes come with further members; see the page of errors.',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: text,
    title: text,
    status: { type: 'integer' },
    detail: { ...text, description: 'For developers.' },
    code: { ...text, description: 'Stable: decide by it.' },
    request_id: text,
    errors: {
      type: 'array',
      description: 'The fields that are wrong.',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: { ...text, description: 'Such as body/items/0/quantity.' },
          message: { ...text, description: 'For whoever filled in the field: "is required".' }
        }
      }
    }
  }
}
const IDEMPOTENCY_KEY = {
  name: 'idempotency-key',
  in: 'header',
  description: 'Makes repeating safe: the same key and request get the first answer again, for 48 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 255 }
}
const IF_NONE_MATCH = {
  name: 'if-none-match',
  in: 'header',
  description: 'The ETag of an answer that is there already: 304 while it still holds.',
  schema: text
}
const ETAG = { description: 'For If-None-Match.', schema: text }
const NOT_MODIFIED = {
  description: 'What If-None-Match names still holds.',
  headers: { etag: { $ref: '#/components/headers/ETag' } }
}

/** An operation whose answer caches may keep. */
function withRevalidation({ [SHARED]: _, ...operation }: Operation): Operation {
  const { headers } = NOT_MODIFIED
  return {
    ...operation,
    parameters: [...(operation.parameters ?? []), { $ref: '#/components/parameters/IfNoneMatch' }],
    responses: {
      ...operation.responses,
      200: { ...operation.responses?.['200'], headers },
      304: { $ref: '#/components/responses/NotModified' }
    }
  }
}

/** What every operation has and no route says: a name for generated clients, the form of errors, idempotency keys. */
function withCommonParts({ paths, components, ...document }: Document) {
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, described] of Object.entries(methods)) {
      const operation = described[SHARED] ? withRevalidation(described) : described
      methods[method] = operation
      const words = path.replace(/^\/api/, '').match(/\w+/g) ?? []
      operation.operationId = [method, ...words].join('_')
      operation.responses = { ...operation.responses, default: { $ref: '#/components/responses/Problem' } }
      // Files are streamed past the idempotency keys.
      const { content = { 'application/json': {} } } = operation.requestBody ?? {}
      if (method === 'get' || !('application/json' in content)) continue
      const key = { $ref: '#/components/parameters/IdempotencyKey' }
      operation.parameters = [...(operation.parameters ?? []), key]
    }
  }
  const { part, schemas } = namedSchemas(paths)
  const problem = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }
  return {
    ...document,
    components: {
      ...components,
      schemas: { ...components.schemas, ...schemas, Problem: PROBLEM },
      responses: {
        NotModified: NOT_MODIFIED,
        Problem: { description: 'It was not done, and why.', content: problem }
      },
      headers: { ETag: ETAG },
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY, IfNoneMatch: IF_NONE_MATCH }
    },
    paths: part
  }
}

/** The document of the routes that are mounted, as text. */
export const writeOpenApi = (app: FastifyInstance): string =>
  JSON.stringify(withCommonParts(app.swagger() as Document))
