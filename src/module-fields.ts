import { compileSerializer } from './gateway/routing/validation.ts'
import { callWithTimeout, isTimeoutError } from './kernel/call-with-timeout.ts'
import type { ReadableField, ReadResourceFields, ResourceField } from './kernel/resources.ts'
import type { LoadedModule, Module, ProvidedField } from './module.ts'
import type { Platform } from './platform/platform.ts'
import type { Transaction } from './platform/postgres/database.ts'

/** How long a response waits for the values of a field. */
const LOAD_TIMEOUT_MS = 2_000
/** After a timeout, responses show null without a wait for this long, so that a hanging module does not hold their slots. */
const PAUSE_MS = 5_000

const nameOf = ({ resource, field }: ResourceField) => `${resource.name}.${field}`

/** Connects the fields that modules add to resources with their values. */
export function createFieldRegistry(modules: readonly Module[], platform: Pick<Platform, 'metrics' | 'log'>) {
  const declared = modules.flatMap(module => module.extends ?? [])
  const failures = platform.metrics.counter(
    'resource_field_failures',
    'Times that a field which a module adds to another one could not be loaded in time and was null.',
    { field: [...new Set(declared.map(nameOf))] }
  )
  let fields: readonly (ReadableField<Transaction> & { readonly declared: ResourceField })[] | undefined

  // Every response with such objects asks.
  const known = new Map<string, readonly ReadableField<Transaction>[]>()

  const readable = (field: ResourceField, provided: ProvidedField | undefined) => {
    const name = nameOf(field)
    const { load, loadCached, write } = provided ?? {}
    const stringify = compileSerializer({ schema: field.schema } as never)
    const onFailure = (err: unknown) => {
      failures.add({ field: name })
      if (err !== undefined)
        platform.log.warn({ err, field: name }, 'a field of another module failed to load')
    }
    return {
      declared: field,
      name,
      field: field.field,
      schema: field.schema,
      isEnabled: load !== undefined,
      load: load === undefined ? loadNothing : createLoadWithTimeout(load, onFailure),
      stringify: (value: unknown) => {
        try {
          return stringify(value)
        } catch (error) {
          onFailure(error)
          return 'null'
        }
      },
      ...(loadCached && { loadCached: orUndefined(loadCached, onFailure) }),
      ...(write && { write })
    }
  }

  const fieldsOf: ReadResourceFields<Transaction> = (resource, audience) => {
    if (fields === undefined)
      throw new Error(`the fields of ${resource.name} are read before all modules are set up`)
    const key = `${resource.name} ${audience}`
    const found =
      known.get(key) ??
      fields.filter(
        ({ declared }) =>
          declared.resource === resource && (audience === 'any' || declared.audience === audience)
      )
    known.set(key, found)
    return found
  }
  return {
    fieldsOf,
    /** Makes the fields readable after all modules are set up. Returns values of undeclared fields. */
    connect: (loaded: readonly LoadedModule[]): string[] => {
      const provided = loaded.flatMap(({ instance }) => instance.fields ?? [])
      fields = declared.map(field =>
        readable(
          field,
          provided.find(each => each.declared === field)
        )
      )
      return loaded.flatMap(({ module: { name, extends: own = [] }, instance }) =>
        (instance.fields ?? [])
          .filter(each => !own.includes(each.declared))
          .map(
            each =>
              `module ${name} provides the field ${nameOf(each.declared)} without declaring it in extends`
          )
      )
    }
  }
}

const loadNothing: ReadableField['load'] = async ids => ids.map(() => null)

/** Returns `loadCached` without its errors, because it runs for each request of a page. */
const orUndefined =
  (loadCached: NonNullable<ProvidedField['loadCached']>, onFailure: (error: unknown) => void) =>
  (ids: readonly string[]) => {
    try {
      return loadCached(ids)
    } catch (error) {
      onFailure(error)
      return undefined
    }
  }

/** Returns `load` with a deadline, which never rejects. `onFailure` gets the error; `undefined` while it is not called. */
function createLoadWithTimeout(
  load: ProvidedField['load'],
  onFailure: (error: unknown) => void
): ReadableField['load'] {
  let pausedUntil = 0
  return async ids => {
    if (pausedUntil > 0 && performance.now() < pausedUntil) {
      onFailure(undefined)
      return undefined
    }
    try {
      const values = await callWithTimeout(LOAD_TIMEOUT_MS, () => load(ids))
      if (values.length !== ids.length)
        throw new Error(`It returned ${values.length} values for ${ids.length} objects.`)
      return values
    } catch (error) {
      if (isTimeoutError(error)) pausedUntil = performance.now() + PAUSE_MS
      onFailure(error)
      return undefined
    }
  }
}
