import type { FieldFault } from './faults.ts'

/**
 * The kind of an error, in terms of the domain. One table in the gateway maps kinds to HTTP statuses, so no other code
 * knows a status.
 * @example
 * const kind: ErrorKind = 'not_found'
 */
export type ErrorKind =
  | 'invalid' // the request is invalid in any state
  | 'unauthenticated' // the caller is unknown
  | 'forbidden' // the caller is known and lacks the permission
  | 'not_found' // absent, or not the caller's: the same response for both
  | 'gone' // it existed, and was deleted for good
  | 'conflict' // the present state forbids it
  | 'stale' // the caller acts on an older version than the present one
  | 'reused_key' // the same idempotency key came with another request
  | 'rate_limited' // too many, too fast
  | 'unavailable' // overloaded, draining, or something we depend on is down

/**
 * `details` are added to the response body; `retryAfterSeconds` becomes the header Retry-After.
 * @example
 * const extra: ErrorExtra = { details: { limit: 100 }, retryAfterSeconds: 5 }
 */
export type ErrorExtra = { details?: Record<string, unknown>; retryAfterSeconds?: number; cause?: unknown }

/**
 * An error that a service throws and the caller receives.
 * @example
 * const wishlistClosedError = defineError('conflict', 'WISHLIST_CLOSED', 'The wishlist is closed. Open it first.')
 * const error = wishlistClosedError({ details: { customer_id: customerId } })
 * assert.ok(error instanceof DomainError && error.kind === 'conflict')
 */
export class DomainError extends Error {
  readonly kind: ErrorKind
  readonly code: string
  readonly details: Record<string, unknown>
  readonly retryAfterSeconds: number | undefined
  readonly mayPass: boolean

  constructor(
    kind: ErrorKind,
    code: string,
    message: string,
    extra: ErrorExtra & { mayPass?: boolean } = {}
  ) {
    // A domain error has no stack, because callers use only its code, and collecting a stack takes 5 us (2026-11).
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message, { cause: extra.cause })
    Error.stackTraceLimit = stackTraceLimit
    this.kind = kind
    this.code = code
    this.details = extra.details ?? {}
    this.retryAfterSeconds = extra.retryAfterSeconds
    this.mayPass = extra.mayPass ?? false
  }
}

/**
 * A declared error. Calling it creates the error to throw.
 * @example
 * function requireOpen(isOpen: boolean, closed: ErrorDefinition): void {
 *   if (!isOpen) throw closed()
 * }
 */
export type ErrorDefinition = ((extra?: ErrorExtra) => DomainError) & {
  readonly kind: ErrorKind
  readonly code: string
  readonly message: string
}
type Definition = {
  /**
   * Constraints and unique indexes, as `schema.name`. When the database rejects a row because of one, this error is
   * thrown.
   */
  constraints?: readonly string[]
  /** Whether the same request may succeed later, so that a retry with its idempotency key runs the handler again. */
  mayPass?: boolean
  /** The request field that the error is about, for `errors` of the response. */
  fault?: FieldFault
}

const errorsByConstraint = new Map<string, ErrorDefinition>()

/**
 * Declares an error. Its code must be unique. @throws when another error has the same constraint.
 * @example
 * const wishTakenError = defineError('conflict', 'WISHLIST_WISH_TAKEN', 'This variant is wished for already.', {
 *   constraints: ['wishlist.wishes_variant']
 * })
 * assert.equal(wishTakenError().code, 'WISHLIST_WISH_TAKEN')
 */
export function defineError(
  kind: ErrorKind,
  code: string,
  message: string,
  { constraints = [], mayPass = false, fault }: Definition = {}
): ErrorDefinition {
  const errors = fault && { errors: [fault] }
  const create = (extra?: ErrorExtra) =>
    new DomainError(kind, code, message, { ...extra, details: { ...errors, ...extra?.details }, mayPass })
  const definition = Object.assign(create, { kind, code, message })
  for (const constraint of constraints) declareConstraint(definition, constraint)
  return definition
}

/** Declares a constraint (`schema.name`) of an error that several modules share. @throws when another error has it. */
export function declareConstraint(definition: ErrorDefinition, constraint: string): void {
  if (errorsByConstraint.has(constraint))
    throw new Error(`two errors are declared for the constraint ${constraint}`)
  errorsByConstraint.set(constraint, definition)
}

/**
 * Returns the row that a query found. @throws `notFound` when it is undefined.
 * @example
 * const wishNotFoundError = defineError('not_found', 'WISHLIST_WISH_NOT_FOUND', 'There is no such wish.')
 * assert.deepEqual(found({ note: 'blue' }, wishNotFoundError), { note: 'blue' })
 * assert.throws(() => found(undefined, wishNotFoundError), { code: 'WISHLIST_WISH_NOT_FOUND' })
 */
export function found<R>(row: R | undefined, notFound: ErrorDefinition): R {
  if (row === undefined) throw notFound()
  return row
}

/** Returns the error of a violated constraint (`schema.name`); undefined when none is declared, so the violation is a bug. */
export const errorForConstraint = (constraint: string): ErrorDefinition | undefined =>
  errorsByConstraint.get(constraint)

/** Returns all constraints of errors in the modules loaded so far. */
export const constraintsWithDeclaredErrors = (): readonly string[] => [...errorsByConstraint.keys()]

/**
 * A problem that the operator can fix: an invalid key, an occupied port, an unreachable database. The process prints only its
 * message and exits with code 1, so the message must say what to do.
 * @example
 * const connect = async () => {
 *   throw new OperatorError('The key of the search server is missing. Set search.key.')
 * }
 * await assert.rejects(connect, OperatorError)
 */
export class OperatorError extends Error {}
