import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { DomainError } from '../../kernel/errors.ts'
import { isUnsafeMethod } from '../routing/routes.ts'

/** Returns the error for changes, such as during maintenance; `undefined` when they are allowed. */
export type FindMaintenanceModeError = () => DomainError | undefined

/**
 * Returns an `onRoute` hook for the public and secured tiers. While a guard returns an error, unsafe requests get it, except
 * on routes with `allowedInMaintenance`.
 */
export function refuseUnsafeRequestsDuringMaintenance(guards: readonly FindMaintenanceModeError[]) {
  const refuse = (_request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) => {
    for (const guard of guards) {
      const error = guard()
      if (error !== undefined) return done(error)
    }
    done()
  }
  return (route: RouteOptions): void => {
    const isAllowed = route.config?.allowedInMaintenance !== undefined
    if (guards.length === 0 || !isUnsafeMethod(route.method) || isAllowed) return
    route.onRequest = [refuse, ...[route.onRequest ?? []].flat()]
  }
}
