import type { FastifyRequest } from 'fastify'
import { type DomainError, defineError } from '../../kernel/errors.ts'

const processReadOnlyError = defineError(
  'unavailable',
  'PROCESS_READ_ONLY',
  'This process only serves public pages (database.read_only). Send the request to a process that uses the primary.'
)

/**
 * Returns the error for a request to a process with `database.read_only`; `undefined` for those that it serves: routes of
 * modules with `cache: 'public'`, whose responses depend on no caller, and those of the gateway itself.
 */
export function findReadOnlyProcessError({
  routeOptions: { config }
}: FastifyRequest): DomainError | undefined {
  const isServed = config.owner === undefined || config.cache === 'public'
  return isServed ? undefined : processReadOnlyError()
}
