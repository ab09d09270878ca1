import { OperatorError } from '../kernel/errors.ts'
import type { Module } from '../module.ts'
import { formatTextTable } from './table.ts'
import { withShopGatewayForCommand } from './with-shop.ts'

type Operation = {
  tags: readonly string[]
  summary: string
  security?: readonly { bearer: readonly string[] }[]
}
export type OpenApiPaths = { paths: Record<string, Record<string, Operation>> }
export type ListRoutesCommandOptions = { module?: string; json: boolean }

/** Prints the OpenAPI document of this shop, with the routes of the enabled modules. */
export async function printOpenApi(modules: readonly Module[]): Promise<void> {
  process.stdout.write(`${JSON.stringify(await documentOf(modules), null, 2)}\n`)
}

/** Prints every route of the enabled modules: method, path, tier, module and summary. */
export async function printRoutes(
  modules: readonly Module[],
  { module, json }: ListRoutesCommandOptions
): Promise<void> {
  const names = modules.map(({ name }) => name)
  if (module !== undefined && !names.includes(module))
    throw new OperatorError(`There is no module ${module}. Modules: ${names.join(', ')}.`)
  const routes = listOpenApiRoutes(await documentOf(modules)).filter(
    route => module === undefined || route.module === module
  )
  if (json) {
    process.stdout.write(`${JSON.stringify(routes)}\n`)
    return
  }
  const rows = routes.map(each => [each.method, each.path, each.tier, each.module, each.summary])
  process.stdout.write(formatTextTable(['method', 'path', 'tier', 'module', 'what it does'], rows))
}

/** Returns the routes of an OpenAPI document. The tier says who may call a route. */
export const listOpenApiRoutes = ({ paths }: OpenApiPaths) =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { tags, summary, security = [] }]) => ({
      method: method.toUpperCase(),
      path,
      tier: tierOf(security),
      module: tags[0] ?? 'shop',
      summary
    }))
  )

function tierOf([requirement]: NonNullable<Operation['security']>) {
  if (requirement === undefined) return 'public'
  return requirement.bearer.includes('admin') ? 'admin' : 'secured'
}

const documentOf = (modules: readonly Module[]): Promise<OpenApiPaths> =>
  withShopGatewayForCommand(modules, async ({ document }) => JSON.parse(await document()) as OpenApiPaths)
