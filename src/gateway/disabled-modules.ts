import { METHODS } from 'node:http'
import type { FastifyInstance } from 'fastify'

/**
 * Catch-all routes of modules that are switched off: every method, on each base path and everything below it,
 * answers 503 before authentication, limits or parsing (specification, "Disabled-module catch-all").
 */
export function mountDisabledModules(
  app: FastifyInstance,
  modules: readonly { name: string; basePaths: readonly string[] }[]
): void {
  if (modules.length === 0) return
  const methods = METHODS.filter(method => method !== 'CONNECT' && method !== 'QUERY')
  for (const method of methods) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: true })
  }
  for (const { name, basePaths } of modules) {
    const error = `module ${name} is disabled; enable it in the configuration file under modules.${name}.enabled: true`
    for (const path of basePaths) {
      for (const url of [path, `${path}/*`]) {
        app.route({
          method: methods,
          url,
          schema: { hide: true },
          // In the first hook, so that not even the body is looked at.
          onRequest: (_request, reply) => {
            reply.code(503).send({ error })
          },
          handler: () => {}
        })
      }
    }
  }
}
