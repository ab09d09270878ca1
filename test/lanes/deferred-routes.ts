import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { deferRouteWork, isDeferred } from '../../tools/later.ts'

// Loads Fastify and its router as the bundle has them, because most shops of tests use few of their 300 routes.

registerHooks({
  load: (url, context, next) =>
    isDeferred(url)
      ? {
          format: 'commonjs',
          shortCircuit: true,
          source: deferRouteWork(readFileSync(fileURLToPath(url), 'utf8'), fileURLToPath(url))
        }
      : next(url, context)
})
