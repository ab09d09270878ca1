import type { FieldAudience, Resource } from './resources.ts'
import type { TSchema } from './schema.ts'

/** Where a schema of a response shows the fields of other modules: before this member, or at the end. */
export type ShownFields = {
  readonly resource: Resource
  readonly audience: FieldAudience
  readonly before: string | undefined
}
/** The object of which a request contains fields of other modules. */
type AcceptedFields = { readonly resource: Resource; readonly action: 'create' | 'update' }
/** The objects of a body that accept fields: the body itself, or those in this list of it. */
export type AcceptingObjects = AcceptedFields & { readonly list: string | undefined }

type Schema = {
  readonly type?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly [SHOWN]?: ShownFields
  readonly [ACCEPTED]?: AcceptedFields
}
type Added = readonly { readonly field: string; readonly schema: TSchema }[]

const SHOWN = Symbol('shows fields of other modules')
const ACCEPTED = Symbol('accepts fields of other modules')

/** Marks the schema of a response as one of this resource, so that it shows the fields that modules add for the audience. */
export function showsFieldsOf<A extends FieldAudience, T extends TSchema>(
  resource: Resource<A>,
  audience: NoInfer<A>,
  schema: T,
  before?: string
): T {
  for (const name of Object.keys((schema as Schema).properties ?? {})) resource.ownFields.add(name)
  return { ...schema, [SHOWN]: { resource, audience, before } }
}

/** Marks the body of a request that creates or updates a resource, so that it accepts the fields that modules write. */
export function acceptsFieldsOf<T extends TSchema>(
  resource: Resource,
  action: AcceptedFields['action'],
  schema: T
): T {
  for (const name of Object.keys((schema as Schema).properties ?? {})) resource.ownFields.add(name)
  return { ...schema, [ACCEPTED]: { resource, action } }
}

/** Returns which objects of a body `acceptsFieldsOf` marked. */
export function acceptingObjectsIn(body: unknown): AcceptingObjects[] {
  const { properties = {}, [ACCEPTED]: own } = (body ?? {}) as Schema
  const inLists = Object.entries(properties).flatMap(([list, { items }]) => {
    const accepted = items?.[ACCEPTED]
    return accepted === undefined ? [] : [{ ...accepted, list }]
  })
  return own === undefined ? inLists : [{ ...own, list: undefined }, ...inLists]
}

const marked = new WeakMap<object, boolean>()

/** Whether the schema, or a part of it, is marked by `showsFieldsOf`. Remembered, because most schemas are not. */
function isMarked(schema: Schema): boolean {
  const known = marked.get(schema)
  if (known !== undefined) return known
  const { properties = {}, items, anyOf = [] } = schema
  const parts = [...Object.values(properties), ...(items === undefined ? [] : [items]), ...anyOf]
  const found = SHOWN in schema || parts.some(isMarked)
  marked.set(schema, found)
  return found
}

/** Returns the schema with the fields at each marked place. The same schema when there are none. */
export function withShownFields<T extends object>(schema: T, fieldsOf: (shown: ShownFields) => Added): T {
  if (findResourcesIn(schema, shown => fieldsOf(shown).length > 0) === undefined) return schema
  const { properties, items, anyOf, [SHOWN]: shown } = schema as Schema
  const inside = {
    ...schema,
    ...(properties && { properties: mapValues(properties, each => withShownFields(each, fieldsOf)) }),
    ...(items && { items: withShownFields(items, fieldsOf) }),
    ...(anyOf && { anyOf: anyOf.map(each => withShownFields(each, fieldsOf)) })
  }
  const added = shown === undefined ? [] : fieldsOf(shown)
  return added.length === 0 ? inside : (withMembers(inside as Schema, added, shown?.before) as typeof inside)
}

const mapValues = (parts: Readonly<Record<string, Schema>>, change: (part: Schema) => Schema) =>
  Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, change(part)]))

function withMembers(schema: Schema, added: Added, before: string | undefined): Schema {
  const members = added.map(({ field, schema }) => [field, schema] as [string, Schema])
  const entries = Object.entries(schema.properties ?? {})
  const at = placeIn(
    entries.map(([name]) => name),
    before
  )
  const required = schema.required ?? []
  const requiredAt = placeIn(required, before)
  return {
    ...schema,
    properties: Object.fromEntries(entries.toSpliced(at, 0, ...members)),
    required: required.toSpliced(requiredAt, 0, ...added.map(({ field }) => field))
  }
}

const placeIn = (names: readonly string[], before: string | undefined): number => {
  const at = before === undefined ? -1 : names.indexOf(before)
  return at < 0 ? names.length : at
}

/** Returns the schema of a body with these fields, or of the objects in this list of it. The fields can be left out. */
export function withAcceptedFields<T extends object>(schema: T, added: Added, list?: string): T {
  const { properties = {} } = schema as Schema
  if (list === undefined) {
    const members = added.map(({ field, schema }) => [field, schema] as const)
    return { ...schema, properties: { ...properties, ...Object.fromEntries(members) } }
  }
  const { items = {}, ...array } = properties[list] ?? {}
  return {
    ...schema,
    properties: { ...properties, [list]: { ...array, items: withAcceptedFields(items, added) } }
  }
}

/** Calls `visit` with each object of a resource in a value, and with the place of its schema. */
export type VisitResources = (
  value: unknown,
  visit: (shown: ShownFields, object: Record<string, unknown>) => void
) => void

/** Returns how to find the objects of resources in values of a schema. `undefined`: it has none for which `isWanted`. */
export function findResourcesIn(
  schema: object,
  isWanted: (shown: ShownFields) => boolean
): VisitResources | undefined {
  if (!isMarked(schema as Schema)) return undefined
  const { properties = {}, items, anyOf = [], [SHOWN]: shown } = schema as Schema
  const members = Object.entries(properties).flatMap(([name, each]) => {
    const inside = findResourcesIn(each, isWanted)
    return inside === undefined ? [] : [{ name, inside }]
  })
  const ofItems = items && findResourcesIn(items, isWanted)
  const ofBranches = anyOf.flatMap(each => findResourcesIn(each, isWanted) ?? [])
  const own = shown !== undefined && isWanted(shown) ? shown : undefined
  if (members.length === 0 && ofItems === undefined && ofBranches.length === 0 && own === undefined)
    return undefined
  return (value, visit) => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      for (const item of value) ofItems?.(item, visit)
      return
    }
    for (const branch of ofBranches) branch(value, visit)
    for (const { name, inside } of members) inside((value as Record<string, unknown>)[name], visit)
    if (own !== undefined) visit(own, value as Record<string, unknown>)
  }
}
