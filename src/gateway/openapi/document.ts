import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { isStreamed } from '../routing/bodies.ts'
import type { BodyKind } from '../routing/tiers.ts'
import { commonComponents } from './common.ts'
import { namedSchemas } from './components.ts'
import { DECLARED, describePath, type Operations } from './operations.ts'

/** Registers the collector; it has to come before the routes that it is to describe. */
export async function collectOpenApi(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Cartwright',
        description: 'A headless commerce engine. Errors are application/problem+json (RFC 9457).',
        version,
        license: { name: 'MIT', identifier: 'MIT' }
      },
      servers: [{ url: '/', description: 'This shop.' }],
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } }
    },
    transform: ({ schema, url, route: { config } }) => ({
      schema: withFile({ tags: [config?.owner ?? 'shop'], ...schema, [DECLARED]: config }, config?.body),
      url
    })
  })
}

/** A body that is read as a stream has no schema, so that nobody validates it; for readers it is a file. */
const withFile = <S extends FastifySchema>(schema: S, body: BodyKind | undefined): S =>
  isStreamed(body) ? { ...schema, body: { type: 'string', format: 'binary' } } : schema

type Document = { paths: Record<string, Operations>; components: Record<string, object> }

/** The document of the routes that are mounted, as text. */
export function writeOpenApi(app: FastifyInstance): string {
  const { paths, components, ...document } = app.swagger() as Document
  const described = Object.entries(paths).map(([path, operations]) => [path, describePath(path, operations)])
  const { part, schemas } = namedSchemas(Object.fromEntries(described))
  const common = { ...commonComponents, schemas: { ...schemas, ...commonComponents.schemas } }
  return JSON.stringify({ ...document, components: { ...components, ...common }, paths: part })
}
