import { type EventType, isWebhookEvent } from './events.ts'
import type { Static, TSchema } from './schema.ts'
import { nullable } from './wire.ts'

/**
 * The reads that show a field: of every caller (`public`), of the customer or guest who owns the object (`owner`), of
 * administrators with access to the module of the resource (`admin`).
 * @example
 * const audience: FieldAudience = 'public'
 */
export type FieldAudience = 'public' | 'owner' | 'admin'

/**
 * An object of the API to which other modules add fields, such as a product. Named after the module that owns it.
 * @example
 * const isPublic = ({ audiences }: Resource): boolean => audiences.includes('public')
 */
export type Resource<A extends FieldAudience = FieldAudience> = {
  readonly name: `${string}.${string}`
  /** The audiences that read it. */
  readonly audiences: readonly A[]
  /** Names of its own fields, which no other module may use. Complete when its module is loaded. */
  readonly ownFields: Set<string>
}

export const defineResource = <const A extends FieldAudience>(
  name: Resource['name'],
  { audiences }: { readonly audiences: readonly A[] }
): Resource<A> => ({ name, audiences, ownFields: new Set() })

/**
 * What purges a changed value of a public field from shared caches, such as a CDN: events that webhooks send, one of them with
 * each change. `expiry`: nothing, so caches may send a value as long as `catalog.shared_cache_seconds` allows.
 */
type FieldPurge = readonly [EventType, ...EventType[]] | 'expiry'

/**
 * A field that a module adds to the resource of another one. `V`: its values.
 * @example
 * const nameOf = ({ resource, field }: ResourceField): string => `${resource.name}.${field}`
 */
export type ResourceField<V = unknown> = {
  readonly resource: Resource
  readonly field: string
  readonly audience: FieldAudience
  /** Only of public fields. */
  readonly purgedBy?: FieldPurge
  /** The schema of a value, or null. */
  readonly schema: TSchema
  /** Exists only in the type. */
  readonly value?: V
}

type FieldDeclaration<A extends FieldAudience, T extends TSchema> = {
  readonly field: string
  readonly schema: T
} & (
  | { readonly audience: A & 'public'; readonly purgedBy: FieldPurge }
  | { readonly audience: Exclude<A, 'public'>; readonly purgedBy?: never }
)

/**
 * Declares a field on a resource. A value is null when it has none, and while the module is disabled. A field for several
 * audiences is declared for each of them. A public field names what purges it from shared caches.
 * @throws Error for a public field without `purgedBy`, and for an event that webhooks do not send.
 * @example
 * const schema = Type.Integer({ minimum: 0 })
 * const wishesField = extendResource(productResource, { field: 'wishes', audience: 'public', purgedBy: 'expiry', schema })
 * assert.equal(wishesField.field, 'wishes')
 */
export function extendResource<A extends FieldAudience, T extends TSchema>(
  resource: Resource<A>,
  { schema, ...rest }: FieldDeclaration<NoInfer<A>, T>
): ResourceField<Static<T>> {
  if (rest.audience === 'public') checkPurge(`${resource.name}.${rest.field}`, rest.purgedBy)
  return { ...rest, resource, schema: nullable(schema) as TSchema }
}

function checkPurge(name: string, purgedBy: FieldPurge | undefined): void {
  if (purgedBy === undefined || purgedBy.length === 0)
    throw new Error(
      `the field ${name} is public: declare in purgedBy the events that purge it from shared caches, or 'expiry'`
    )
  for (const event of purgedBy === 'expiry' ? [] : purgedBy)
    if (!isWebhookEvent(event))
      throw new Error(`the field ${name} is purged by ${event.name}, which webhooks do not send`)
}

/** How the values of a field are read and written. `Tx`: a transaction of the database. */
export type FieldValues<V, Tx> = {
  /**
   * Returns the values of these objects, in their order. Called once for all objects of a response, and for each request, so
   * it reads many at once and caches what is requested often. An unchanged value that is an object should be the same object.
   */
  load(ids: readonly string[]): Promise<readonly (V | null)[]>
  /**
   * Returns what `load` would, if all of it is in memory and current; otherwise `undefined`. Without this, pages with the field
   * are sent by the gateway only after a call of `load`.
   */
  loadCached?(ids: readonly string[]): readonly (V | null)[] | undefined
  /**
   * Writes the value that a request to create or update the object contains, in the transaction of the request. Null
   * removes it. Without this, requests cannot contain the field.
   */
  write?(tx: Tx, id: string, value: V | null): Promise<void>
}

/** A field as the module that owns the resource, and the gateway, read it. */
export type ReadableField<Tx = never> = {
  /** The names of the resource and the field, such as `catalog.product.rating`. */
  readonly name: string
  readonly field: string
  readonly schema: TSchema
  /** Whether a module provides its values. If not, every value is null. */
  readonly isEnabled: boolean
  /** Returns the values of these objects. `undefined`: they could not be loaded in time, and are shown as null. Never rejects. */
  load(ids: readonly string[]): Promise<readonly unknown[] | undefined>
  /** Returns the values if all are in memory and current. */
  loadCached?(ids: readonly string[]): readonly unknown[] | undefined
  /** Returns a value as JSON, without members that the schema does not have. `null` for a value that it does not allow. */
  stringify(value: unknown): string
  write?(tx: Tx, id: string, value: unknown): Promise<void>
}

/** Reads the fields that modules add to a resource, for one or any audience. @throws before all modules are set up. */
export type ReadResourceFields<Tx = never> = (
  resource: Resource,
  audience: FieldAudience | 'any'
) => readonly ReadableField<Tx>[]
