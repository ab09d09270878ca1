import type { FastifyReply, FastifyRequest } from 'fastify'
import type { createRateLimitHook } from './rate-limits.ts'

type Hook = ReturnType<typeof createRateLimitHook>

/**
 * Limits requests outside the tiers: pages, files, documents at fixed addresses, and unknown paths. Only diagnostics
 * bypass it (specification, "Diagnostic endpoints").
 */
export const createNonApiRateLimitHook =
  (limit: Hook | undefined): Hook =>
  (request: FastifyRequest, reply: FastifyReply, done) => {
    const { url = '', config } = request.routeOptions
    if (limit === undefined || config.isDiagnostic === true || url.startsWith('/api/')) done()
    else limit(request, reply, done)
  }
