import { type FastifyInstance, type FastifySchema, fastify, type RouteOptions } from 'fastify'
import { isStreamed } from '../routing/bodies.ts'
import type { BodyKind } from '../routing/tiers.ts'
import { commonComponents } from './common.ts'
import { namedSchemas } from './components.ts'
import { DECLARED, describePath, type Operations } from './operations.ts'

/**
 * Collects the routes that are mounted from now on; what it returns writes their document. The library that does so reads
 * them from a server of its own when somebody asks: it and the parser of YAML that it brings are loaded at no start.
 */
export function collectOpenApi(app: FastifyInstance, version: string): () => Promise<string> {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', route => {
    routes.push(route)
  })
  return async () => writeOpenApi(await describe(routes, version))
}

async function describe(routes: readonly RouteOptions[], version: string): Promise<Document> {
  const app = fastify({ exposeHeadRoutes: false })
  // Nothing is validated or sent here.
  app.setValidatorCompiler(() => () => true).setSerializerCompiler(() => () => '')
  const { default: swagger } = await import('@fastify/swagger')
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
  for (const { method: methods, url, schema, config } of routes) {
    const method = [methods].flat().filter(each => each !== 'HEAD')
    if (method.length === 0) continue
    app.route({ method, url, handler: () => {}, ...(schema && { schema }), ...(config && { config }) })
  }
  await app.ready()
  return app.swagger() as Document
}

/** A body that is read as a stream has no schema, so that nobody validates it; for readers it is a file. */
const withFile = <S extends FastifySchema>(schema: S, body: BodyKind | undefined): S =>
  isStreamed(body) ? { ...schema, body: { type: 'string', format: 'binary' } } : schema

type Document = { paths: Record<string, Operations>; components: Record<string, object> }

function writeOpenApi({ paths, components, ...document }: Document): string {
  const readable = Object.keys(paths).filter(path => paths[path]?.get !== undefined)
  const described = Object.entries(paths).map(([path, operations]) => [
    path,
    describePath(path, operations, readable)
  ])
  const { part, schemas } = namedSchemas(Object.fromEntries(described))
  const common = { ...commonComponents, schemas: { ...schemas, ...commonComponents.schemas } }
  return JSON.stringify({ ...document, components: { ...components, ...common }, paths: part })
}
