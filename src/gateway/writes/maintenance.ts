import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { DomainError } from '../../kernel/errors.ts'
import { isUnsafe } from '../routing/routes.ts'

/** Why nothing may be changed just now; `undefined` when it may. */
export type Refusal = () => DomainError | undefined

/**
 * For `onRoute` of the tiers of shoppers: while the shop is in maintenance, what may change something is refused before anything is
 * done, but for routes that say why they go on.
 */
export function refuseChanges(refusals: readonly Refusal[]) {
  const refuse = (_request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) => {
    for (const refusal of refusals) {
      const error = refusal()
      if (error !== undefined) return done(error)
    }
    done()
  }
  return (route: RouteOptions): void => {
    if (refusals.length === 0 || !isUnsafe(route.method) || route.config?.inMaintenance !== undefined) return
    route.onRequest = [refuse, ...[route.onRequest ?? []].flat()]
  }
}
