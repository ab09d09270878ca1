import { type FastifyInstance, type FastifySchema, fastify, type RouteOptions } from 'fastify'
import { isStreamedBody } from '../routing/body-kinds.ts'
import type { BodyKind } from '../routing/tiers.ts'
import { openApiComponents } from './common.ts'
import { extractNamedSchemas } from './components.ts'
import { describeOpenApiPath, type OpenApiPathOperations, ROUTE_CONFIG_KEY } from './operations.ts'

/** Descriptions of tags, by name. */
export type OpenApiTagDescriptions = Readonly<Record<string, string>>

type TaggedModule = { name: string; description?: string; tags?: OpenApiTagDescriptions }

/** Returns the descriptions of all tags: of modules, and of further tags that modules declare. */
export const describeOpenApiTags = (modules: readonly TaggedModule[]): OpenApiTagDescriptions => ({
  diagnostics: 'Health checks and metrics of a process.',
  ...Object.fromEntries(
    modules.flatMap(({ name, description }) => (description ? [[name, description]] : []))
  ),
  ...Object.assign({}, ...modules.map(({ tags }) => tags))
})

/**
 * Collects the routes that are mounted after this call, and returns a function that writes their document. The library
 * reads them from a separate server and is imported on the first request, because it and its YAML parser load slowly.
 */
export function collectOpenApi(
  app: FastifyInstance,
  version: string,
  tags: OpenApiTagDescriptions
): () => Promise<string> {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', route => {
    routes.push(route)
  })
  return async () => writeOpenApi(await describe(routes, version), tags)
}

async function describe(routes: readonly RouteOptions[], version: string): Promise<DraftDocument> {
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
      schema: withFile(
        { tags: [config?.owner ?? 'shop'], ...schema, [ROUTE_CONFIG_KEY]: config },
        config?.body
      ),
      url
    })
  })
  for (const { method: methods, url, schema, config } of routes) {
    const method = [methods].flat().filter(each => each !== 'HEAD')
    if (method.length === 0) continue
    app.route({ method, url, handler: () => {}, ...(schema && { schema }), ...(config && { config }) })
  }
  await app.ready()
  return app.swagger() as DraftDocument
}

/** Documents a streamed body as a file. It has no schema for validation. */
const withFile = <S extends FastifySchema>(schema: S, body: BodyKind | undefined): S =>
  isStreamedBody(body) ? { ...schema, body: { type: 'string', format: 'binary' } } : schema

type DraftDocument = { paths: Record<string, OpenApiPathOperations>; components: Record<string, object> }

function writeOpenApi(
  { paths, components, ...document }: DraftDocument,
  tags: OpenApiTagDescriptions
): string {
  const readable = Object.keys(paths).filter(path => paths[path]?.get !== undefined)
  const described = Object.entries(paths).map(([path, operations]) => [
    path,
    describeOpenApiPath(path, operations, readable)
  ])
  const { part, schemas } = extractNamedSchemas(Object.fromEntries(described))
  const common = { ...openApiComponents, schemas: { ...schemas, ...openApiComponents.schemas } }
  return JSON.stringify({
    ...document,
    tags: tagsOf(paths, tags),
    components: { ...components, ...common },
    paths: part
  })
}

/** The tags of the operations, in the order of their first operation. */
function tagsOf(paths: DraftDocument['paths'], descriptions: OpenApiTagDescriptions) {
  const operations: { tags?: readonly string[] }[] = Object.values(paths).flatMap(Object.values)
  const names = new Set(operations.flatMap(({ tags = [] }) => tags))
  return [...names].map(name => {
    const description = descriptions[name]
    return { name, ...(description !== undefined && { description }) }
  })
}
