import type { Fault } from './faults.ts'

/**
 * What can go wrong, in the words of the domain. Services throw these; one table in the gateway turns a kind into
 * an HTTP status, so nothing below the gateway knows a status code.
 */
export type ErrorKind =
  | 'invalid' // the request does not make sense, whatever the state
  | 'unauthenticated' // nobody known is asking
  | 'forbidden' // somebody known is asking for what is not theirs to do
  | 'not_found' // absent, or not the caller's: one answer for both
  | 'conflict' // the present state forbids it
  | 'stale' // the caller acts on an older version than the present one
  | 'reused_key' // the same idempotency key came with another request
  | 'rate_limited' // too many, too fast
  | 'unavailable' // overloaded, draining, or something we depend on is down

/** Beyond kind, code and message: `details` join the body of the answer, `retryAfterSeconds` its headers. */
export type ErrorExtra = { details?: Record<string, unknown>; retryAfterSeconds?: number; cause?: unknown }

/** What a service throws: a failure of the domain, for the caller to hear of. */
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
    // Callers are told its code, and nobody reads where it was thrown: collecting a stack costs 5 us (2026-11).
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

/** One failure, declared in one line of an `errors.ts`; called, it makes the error to throw. */
export type ErrorDefinition = ((extra?: ErrorExtra) => DomainError) & {
  readonly kind: ErrorKind
  readonly code: string
  readonly message: string
}
type Definition = {
  /**
   * The constraints or unique indexes that say so in the database, as `schema.name`: a row that they refuse is
   * this failure.
   */
  constraints?: readonly string[]
  /** The same request may succeed later, so it is judged anew when it comes again with its idempotency key. */
  mayPass?: boolean
  /** The one field that it is about, for `errors` of the answer. */
  fault?: Fault
}

const ofConstraint = new Map<string, ErrorDefinition>()

/** Declares a failure, once: its code belongs to it alone. @throws when another one has its constraint. */
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
  for (const constraint of constraints) {
    if (ofConstraint.has(constraint))
      throw new Error(`two errors are declared for the constraint ${constraint}`)
    ofConstraint.set(constraint, definition)
  }
  return definition
}

/** The row, which must be there. @throws what `notFound` makes when it is not. */
export function found<R>(row: R | undefined, notFound: ErrorDefinition): R {
  if (row === undefined) throw notFound()
  return row
}

/** What it means that a constraint (`schema.name`) refused a row; `undefined` where that is a bug. */
export const errorOfConstraint = (constraint: string): ErrorDefinition | undefined =>
  ofConstraint.get(constraint)

/** Every constraint that stands beside an error of the modules loaded so far. */
export const declaredConstraints = (): readonly string[] => [...ofConstraint.keys()]

/**
 * A problem that the person who runs the shop can mend: a wrong key, an occupied port, an unreachable database.
 * It ends the process with exit code 1 and its message alone, no stack trace; so the message names what to do.
 */
export class OperatorError extends Error {}
