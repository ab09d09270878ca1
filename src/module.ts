import type { Tiers } from './gateway/routing/tiers.ts'
import type { DiagnosisCheck } from './kernel/diagnosis.ts'
import type { DomainError } from './kernel/errors.ts'
import type { EventType, JobType, PayloadOf } from './kernel/events.ts'
import type { Port, PortProvider, PortReader } from './kernel/ports.ts'
import type { FieldValues, ReadResourceFields, ResourceField } from './kernel/resources.ts'
import type { TSchema } from './kernel/schema.ts'
import type { SettingProblem, SettingsOf } from './kernel/settings.ts'
import type { EventLogReader } from './platform/event-log/event-log.ts'
import type { Metrics } from './platform/metrics/registry.ts'
import type { EventHandler, JobHandler } from './platform/outbox/handlers.ts'
import type { Emit, Enqueue, Outbox } from './platform/outbox/outbox.ts'
import type { Partitions } from './platform/partitions/partitions.ts'
import type { PersonalDataHandler } from './platform/personal-data.ts'
import type { Platform } from './platform/platform.ts'
import type { Transaction } from './platform/postgres/database.ts'
import type { MigrationSource } from './platform/postgres/migrate.ts'

type Events = readonly EventType[]
type Jobs = readonly JobType[]
/** Handlers by event name. For the general `Module` type, any names. */
type EventHandlersOf<H extends Events> = EventType extends H[number]
  ? Readonly<Record<string, EventHandler<never>>>
  : { readonly [E in H[number] as E['name']]: EventHandler<PayloadOf<E>> }
type JobHandlersOf<J extends Jobs> = JobType extends J[number]
  ? Readonly<Record<string, JobHandler<never>>>
  : { readonly [T in J[number] as T['name']]: JobHandler<PayloadOf<T>> }

/**
 * A field of `extends` with its values.
 * @example
 * const nameOf = ({ declared }: ProvidedField): string => declared.field
 */
export type ProvidedField = FieldValues<unknown, Transaction> & { readonly declared: ResourceField }

/**
 * Provides the values of a field that the module declares in `extends`. A module returns it from set-up.
 * @example
 * const schema = Type.Integer({ minimum: 0 })
 * const wishesField = extendResource(variantResource, { field: 'wishes', audience: 'public', purgedBy: 'expiry', schema })
 * const provided = provideField(wishesField, { load: async ids => ids.map(() => 0) })
 * assert.deepEqual(await provided.load([variantId]), [0])
 */
export const provideField = <V>(
  declared: ResourceField<V>,
  values: FieldValues<NoInfer<V>, Transaction>
): ProvidedField => ({ ...(values as FieldValues<unknown, Transaction>), declared })

/**
 * The result of a module's set-up: its API for other modules, its routes, its event and job handlers, and how to
 * stop it.
 */
export type ModuleInstance<Api, C = EventHandlersOf<Events>, J = JobHandlersOf<Jobs>> = {
  api: Api
  routes?: (tiers: Tiers) => void
  eventHandlers?: C
  /**
   * Returns false when the handler of this event would do nothing about this payload now. Then no delivery is stored. Default:
   * always true. `together`: the names of all events about the same subject that the transaction emits.
   */
  isWanted?: (event: string, payload: unknown, together: ReadonlySet<string>) => boolean
  jobHandlers?: J
  /**
   * Of recurring jobs that seldom have something to do: whether the next run would do something. It only reads. Each run writes
   * its row; without work there is no run, and an idle shop writes nothing.
   */
  hasWork?: { readonly [K in keyof J]?: () => Promise<boolean> }
  /** How the module exports and erases personal data. Present if `personalData` of the declaration is `true`. */
  personalData?: PersonalDataHandler
  /**
   * Returns the error that rejects requests of customers and guests to change something, such as during maintenance; `undefined`
   * when they may. Every such request calls it, so it must answer from memory.
   */
  guard?: () => DomainError | undefined
  /** Checks of the module's stored data, which `doctor` runs. They only read. */
  diagnoses?: readonly DiagnosisCheck[]
  /** Its providers of the ports that it declares in `provides`: all, some or none. */
  provides?: readonly PortProvider[]
  /** The values of fields that it declares in `extends`: all, some or none. The others are null. */
  fields?: readonly ProvidedField[]
  /**
   * Finds why the shop must not start, each reason as a sentence that says what to do. Runs after all modules are set up and
   * before the shop listens. Commands do not run it, except `doctor`.
   */
  findStartProblems?: () => Promise<readonly string[]>
  stop?: () => Promise<void>
}

/** The platform for one module: its metrics are prefixed with its name, and it emits and enqueues only what it declares. */
export type ModulePlatform = Omit<Platform, 'metrics' | 'outbox' | 'eventLog' | 'partitions'> & {
  metrics: Metrics
  emit: Emit
  enqueue: Enqueue
  /** Events and jobs of all modules, for their administration. */
  deliveries: Outbox['console']
  eventLog: EventLogReader
  /** Its tables that are partitioned by time. */
  partitions: Pick<Partitions, 'keep'>
  /** The providers of the module's own ports. */
  ports: PortReader
  /** The fields that modules add to its own resources. It needs them only for what it sends as text or files. */
  fieldsOf: ReadResourceFields
  house: ShopOverview
}

/** The shop as a whole, for its administration. */
export type ShopOverview = {
  /** All modules of the list, enabled or not. */
  readonly modules: readonly ModuleStatus[]
  /** All events that the modules emit. */
  readonly events: readonly EventType[]
  /** The effective configuration, with secrets as `***`. */
  config(): Readonly<Record<string, unknown>>
  /** The personal data of modules, by their names. Complete once all modules are set up. */
  personalData(): ReadonlyMap<string, PersonalDataHandler>
}

/** A module and its status, for administrators. */
export type ModuleStatus = {
  name: string
  description: string
  enabled: boolean
  requires: string[]
  uses: string[]
  /** Names of its ports. */
  ports: string[]
  /** Names of the ports that it can provide. */
  provides: string[]
  parts: { name: string; enabled: boolean; base_paths: string[] }[]
  base_paths: string[]
}

/** A part of a module: its description, and the paths that answer 503 without it. */
type ModulePart = { readonly description: string; readonly basePaths: readonly string[] }

interface Modules {
  readonly [name: string]: Module
}
type ApiOfModule<M> = M extends { setup(...args: never[]): Promise<{ api: infer Api }> } ? Api : never
/** The APIs that `setup` receives: always of required modules, of used modules when they are enabled. */
type Apis<R extends Modules, U extends Modules> = { readonly [K in keyof R]: ApiOfModule<R[K]> } & {
  readonly [K in keyof U]: ApiOfModule<U[K]> | undefined
}

/**
 * The declaration of a domain module: its routes, settings, metrics and events follow from it. `requires` and `uses` hold the
 * modules themselves, so one import declares the dependency and types its API, and a cycle cannot load.
 * @example
 * const namesOf = (modules: readonly Module[]) => modules.map(({ name }) => name)
 */
export type Module<
  Api = unknown,
  R extends Modules = Modules,
  U extends Modules = Modules,
  S extends TSchema = TSchema,
  N extends string = string,
  H extends Events = Events,
  J extends Jobs = Jobs
> = {
  readonly name: N
  /** What the module does, in one line, for the settings file and its tag in the API document. */
  readonly description: string
  /** Descriptions of the tags of its routes in the API document, besides the tag that has its name. */
  readonly tags?: Readonly<Record<string, string>>
  /** Paths of its routes. When the module is disabled, all paths at and below them answer 503. */
  readonly basePaths: readonly string[]
  /** Parts of the module that can be disabled separately, as `modules.<name>.enabled`. */
  readonly switches?: Readonly<Record<string, ModulePart>>
  /** The schema of the module's section of the configuration. */
  readonly settings?: S
  /** Short names of environment variables for its settings. */
  readonly shortNames?: Readonly<Record<string, string>>
  /** Headers that identify a guest, such as the token of a guest cart. */
  readonly credentialHeaders?: readonly string[]
  /** Request headers that select the response, for Vary. A retry with an idempotency key must send the same. */
  readonly varyHeaders?: readonly string[]
  readonly requires: R
  /** Present when enabled, undefined when not. */
  readonly uses: U
  /** Events that the module emits; no other module emits them. */
  readonly emits?: Events
  /** Events that the module subscribes to: set-up returns a handler of each. */
  readonly subscribes?: H
  /**
   * Whether it subscribes to this event of any module in the list, besides those in `subscribes`. Set-up finds all events in
   * `house.events` and returns a handler of each that this accepts.
   */
  subscribesTo?(event: EventType): boolean
  /** Jobs that it enqueues: set-up returns a handler of each. */
  readonly jobs?: J
  /** Ports that it owns: their names begin with its name. */
  readonly ports?: readonly Port[]
  /** Ports that it can provide. Set-up returns the providers that its settings enable. */
  readonly provides?: readonly Port[]
  /** Fields that it adds to resources. Set-up returns the values of those that its settings enable. */
  readonly extends?: readonly ResourceField[]
  readonly migrations?: URL
  /**
   * `true` when it stores personal data: set-up then returns `personalData`. Otherwise the reason why there is nothing to erase
   * and to export. Without it, a module with migrations keeps the shop from starting.
   */
  readonly personalData?: true | string
  /**
   * Why its settings cannot be used together, or in this environment. The start and `config check` call it before anything
   * is opened, so set-up relies on it and checks no setting itself. Keys are those of its section.
   */
  validate?(settings: SettingsOf<S>, config: Platform['config']): readonly SettingProblem[]
  /** Checks of `doctor` for this module: servers that it needs, contradictory settings. */
  diagnose?(settings: SettingsOf<S>, world: Pick<Platform, 'config' | 'http'>): readonly DiagnosisCheck[]
  // A method and not a property, because method parameters are bivariant: a module with specific settings and APIs fits into
  // a list of modules.
  setup(
    platform: ModulePlatform,
    settings: SettingsOf<S>,
    apis: Apis<R, U>
  ): Promise<ModuleInstance<Api, EventHandlersOf<H>, JobHandlersOf<J>>>
}

/**
 * Infers the types of a module from its declaration.
 * @example
 * const greetingsModule = defineModule({
 *   name: 'greetings',
 *   description: 'Greets customers.',
 *   basePaths: [],
 *   requires: {},
 *   uses: {},
 *   setup: async () => ({ api: { greet: (name: string) => `Hello ${name}` } })
 * })
 * assert.equal(greetingsModule.name, 'greetings')
 */
export const defineModule = <
  Api,
  R extends Modules,
  U extends Modules,
  S extends TSchema,
  const N extends string,
  const H extends Events = readonly [],
  const J extends Jobs = readonly []
>(
  definition: Module<Api, R, U, S, N, H, J>
): Module<Api, R, U, S, N, H, J> => definition

export type LoadedModule = { module: Module; instance: ModuleInstance<unknown> }
/** A module with an API of this type. */
export type ModuleWithApi<Api> = { name: string; setup: (...args: never[]) => Promise<{ api: Api }> }
/** The API of a module; `undefined` when it is disabled. */
export type GetModuleApi = <Api>(module: ModuleWithApi<Api>) => Api | undefined
export type ModuleSwitches = Readonly<Record<string, { readonly enabled: boolean }>>

export const isModuleEnabled = (module: Module, switches: ModuleSwitches) =>
  switches[module.name]?.enabled === true

export const listModuleStatuses = (modules: readonly Module[], switches: ModuleSwitches): ModuleStatus[] =>
  modules.map(module => ({
    name: module.name,
    enabled: isModuleEnabled(module, switches),
    requires: Object.values(module.requires).map(({ name }) => name),
    uses: Object.values(module.uses).map(({ name }) => name),
    ports: (module.ports ?? []).map(({ name }) => name),
    provides: (module.provides ?? []).map(({ name }) => name),
    parts: Object.entries(module.switches ?? {}).map(([name, { basePaths }]) => ({
      name,
      enabled: isModuleEnabled(module, switches) && switches[name]?.enabled === true,
      base_paths: [...basePaths]
    })),
    base_paths: [...module.basePaths],
    description: module.description
  }))

/**
 * Returns the enabled modules, each after the modules that it requires and uses. A required module is found in the list by its
 * name, so a replacement with the same name may be used.
 */
export function sortEnabledModulesByDependency(
  modules: readonly Module[],
  switches: ModuleSwitches
): Module[] {
  const ordered = new Set<Module>()
  const visit = (module: Module) => {
    if (ordered.has(module) || !isModuleEnabled(module, switches)) return
    for (const needed of [...Object.values(module.requires), ...Object.values(module.uses)]) {
      const listed = modules.find(({ name }) => name === needed.name)
      if (listed !== undefined) visit(listed)
    }
    ordered.add(module)
  }
  for (const module of modules) visit(module)
  return [...ordered]
}

export const migrationSources = (modules: readonly Module[]): MigrationSource[] =>
  modules.flatMap(({ name, migrations }) => (migrations ? [{ module: name, folder: migrations }] : []))
