import type { FastifyInstance, FastifyReply, RouteOptions } from 'fastify'
import type { Config } from '../../platform/core-settings.ts'
import { createPublicResponseCache, type KeepResponse } from '../caching/public-responses.ts'
import type { ModuleRequestHeaders } from './tiers.ts'

type Headers = Readonly<Record<string, string>>

/**
 * Caches validate on every use, and may use a response for five minutes while the shop fails (RFC 5861, 4). `no-cache` would
 * forbid that (RFC 9111, 4.2.4).
 */
export const PUBLIC_CACHE_CONTROL = 'public, max-age=0, stale-if-error=300'

/**
 * Headers of every response. Browsers do not guess the type, do not show it in a frame and send no referrer. Caches do
 * not store it unless the route allows it.
 */
export function commonResponseHeaders({ server }: Pick<Config, 'server'>): Headers {
  const common = {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer'
  }
  // Only for a shop with TLS (RFC 6797, 7.2).
  return server.public_url.startsWith('https:')
    ? { ...common, 'strict-transport-security': 'max-age=31536000' }
    : common
}

/**
 * Forbids caches to store responses of this scope, because they depend on the caller (RFC 9111, sections 3.5 and 4.1).
 * Routes with `cache: 'public'` are stored and revalidated on every use (`caching/public-responses.ts`).
 */
export function setCacheHeadersOfScope(
  scope: FastifyInstance,
  { server }: Pick<Config, 'server'>,
  { credentialHeaders, varyHeaders, keep }: ModuleRequestHeaders & { readonly keep: KeepResponse }
): void {
  // With CORS, the response depends on the origin of the page.
  const origin = server.cors.origins.length > 0 ? ['Origin'] : []
  const vary = (...names: string[]) => [...names, ...origin].join(', ')
  const privateHeaders: Headers = {
    'cache-control': 'private, no-store',
    vary: vary('Authorization', ...credentialHeaders)
  }
  const publicHeaders: Headers = {
    'cache-control': PUBLIC_CACHE_CONTROL,
    vary: vary(...varyHeaders, 'Accept-Encoding')
  }
  scope.addHook('onRequest', (_request, reply, done) => {
    reply.headers(privateHeaders)
    done()
  })
  scope.decorateRequest('keeping', null)
  cachePublicResponses(scope, keep)
  scope.addHook('onRoute', (route: RouteOptions) => {
    if (route.config?.cache !== 'public') return
    const allow = (_request: unknown, reply: FastifyReply, done: () => void) => {
      reply.headers(publicHeaders)
      done()
    }
    route.onRequest = [allow, ...[route.onRequest ?? []].flat()]
  })
}

/** Adds ETag, 304 and compression to routes with `cache: 'public'`. */
export function cachePublicResponses(scope: FastifyInstance, keep?: KeepResponse): void {
  const represent = createPublicResponseCache(keep)
  scope.addHook('onRoute', (route: RouteOptions) => {
    if (route.config?.cache === 'public') route.onSend = [represent, ...[route.onSend ?? []].flat()]
  })
}
