import type { FastifyInstance, FastifyReply, RouteOptions } from 'fastify'
import type { Config } from '../../config.ts'
import { createPublicAnswers } from '../caching/public-answers.ts'
import type { ModuleHeaders } from './tiers.ts'

type Headers = Readonly<Record<string, string>>

/**
 * What every answer carries: browsers guess no other type, show it in no frame and pass its address on to nobody, and
 * no cache keeps it unless its route says so.
 */
export function commonHeaders({ server }: Pick<Config, 'server'>): Headers {
  const common = {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer'
  }
  // RFC 6797, 7.2: sent only by a shop that is reached by TLS.
  return server.public_url.startsWith('https:')
    ? { ...common, 'strict-transport-security': 'max-age=31536000' }
    : common
}

/**
 * Everything below a scope depends on who asks, so no cache on the way may keep it or show it to anybody else (RFC
 * 9111, sections 3.5 and 4.1). A route that answers everybody alike says `cache: 'public'`; then a cache may keep it and
 * asks each time whether it still holds, which `caching/public-answers.ts` tells it.
 */
export function declareCaching(
  scope: FastifyInstance,
  { server }: Pick<Config, 'server'>,
  { capabilities, contexts }: ModuleHeaders
): void {
  // Where pages of other origins are let in, answers name the one that asked.
  const origin = server.cors.origins.length > 0 ? ['Origin'] : []
  const vary = (...names: string[]) => [...names, ...origin].join(', ')
  const ownOnly: Headers = {
    'cache-control': 'private, no-store',
    vary: vary('Authorization', ...capabilities)
  }
  const forAll: Headers = { 'cache-control': 'public, no-cache', vary: vary(...contexts, 'Accept-Encoding') }
  scope.addHook('onRequest', (_request, reply, done) => {
    reply.headers(ownOnly)
    done()
  })
  tagPublicAnswers(scope)
  scope.addHook('onRoute', (route: RouteOptions) => {
    if (route.config?.cache !== 'public') return
    const allow = (_request: unknown, reply: FastifyReply, done: () => void) => {
      reply.headers(forAll)
      done()
    }
    route.onRequest = [allow, ...[route.onRequest ?? []].flat()]
  })
}

/** Answers of routes that say `cache: 'public'` get an entity tag, 304 and compression. */
export function tagPublicAnswers(scope: FastifyInstance): void {
  const represent = createPublicAnswers()
  scope.addHook('onRoute', (route: RouteOptions) => {
    if (route.config?.cache === 'public') route.onSend = [represent, ...[route.onSend ?? []].flat()]
  })
}
