import type { Tiers } from './gateway/routing/tiers.ts'
import type { Diagnosis } from './kernel/diagnosis.ts'
import type { DomainError } from './kernel/errors.ts'
import type { EventType, JobType, PayloadOf } from './kernel/events.ts'
import type { TSchema } from './kernel/schema.ts'
import type { SettingProblem, SettingsOf } from './kernel/settings.ts'
import type { Metrics } from './platform/metrics/registry.ts'
import type { Consumer, JobHandler } from './platform/outbox/handlers.ts'
import type { Emit, Enqueue, Outbox } from './platform/outbox/outbox.ts'
import type { People } from './platform/people.ts'
import type { Platform } from './platform/platform.ts'
import type { MigrationSource } from './platform/postgres/migrate.ts'

type Events = readonly EventType[]
type Jobs = readonly JobType[]
/** By the names of the events; of modules of any kind, whatever they are. */
type ConsumersOf<H extends Events> = EventType extends H[number]
  ? Readonly<Record<string, Consumer<never>>>
  : { readonly [E in H[number] as E['name']]: Consumer<PayloadOf<E>> }
type HandlersOf<J extends Jobs> = JobType extends J[number]
  ? Readonly<Record<string, JobHandler<never>>>
  : { readonly [T in J[number] as T['name']]: JobHandler<PayloadOf<T>> }

/**
 * What a module gives once it is set up: its API to other modules, its routes, what it does about each event that it hears
 * and each of its jobs, and what to do at the end.
 */
export type ModuleInstance<Api, C = ConsumersOf<Events>, J = HandlersOf<Jobs>> = {
  api: Api
  routes?: (tiers: Tiers) => void
  consumers?: C
  /** Whether its consumer would do anything about such an event that happens now. Without it, it would. */
  wants?: (event: string) => boolean
  handlers?: J
  /** What it keeps of people, when its declaration says that it keeps something. */
  people?: People
  /**
   * What shoppers are told who want to change something, whatever it is; `undefined` when they may. Each such request asks,
   * so it answers from memory.
   */
  refusal?: () => DomainError | undefined
  /** What `doctor` checks in the stored data. They only read. */
  diagnoses?: readonly Diagnosis[]
  stop?: () => Promise<void>
}

/** The platform as one module gets it: the names of its metrics begin with its own, and events and jobs are its own. */
export type OwnPlatform = Omit<Platform, 'metrics' | 'outbox'> & {
  metrics: Metrics
  emit: Emit
  enqueue: Enqueue
  /** Events and jobs of all modules, for those who look after them. */
  deliveries: Outbox['console']
  house: House
}

/** The shop as a whole, for those who look after it. */
export type House = {
  /** Every module that there is. */
  readonly modules: readonly DescribedModule[]
  /** Every event that one of them emits. */
  readonly events: readonly EventType[]
  /** The configuration as it counts; its secrets are `***`. */
  config(): Readonly<Record<string, unknown>>
  /** What the modules that are set up keep of people, by their names; complete once all of them are. */
  people(): ReadonlyMap<string, People>
}

/** What a module is, and whether it runs, for people. */
export type DescribedModule = {
  name: string
  description: string
  enabled: boolean
  requires: string[]
  uses: string[]
  parts: { name: string; enabled: boolean; base_paths: string[] }[]
  base_paths: string[]
}

/** A part of a module: what it is, in a line, and the paths that answer 503 without it. */
type Switch = { readonly description: string; readonly basePaths: readonly string[] }

interface Modules {
  readonly [name: string]: Module
}
type ApiOfModule<M> = M extends { setup(...args: never[]): Promise<{ api: infer Api }> } ? Api : never
/** The APIs that a module is handed: of what it requires always, of what it uses when that is enabled. */
type Apis<R extends Modules, U extends Modules> = { readonly [K in keyof R]: ApiOfModule<R[K]> } & {
  readonly [K in keyof U]: ApiOfModule<U[K]> | undefined
}

/**
 * A domain module, and all that the house knows of it: who mounts its routes, reads its settings, or counts its
 * figures asks this declaration. `requires` and `uses` hold the modules themselves: importing one, declaring it and
 * getting the type of its API are one fact, and a cycle cannot load.
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
  /** What it does, in a line: the file of settings says it. */
  readonly description: string
  /** Where its routes live. When the module is switched off, everything at and below them answers 503. */
  readonly basePaths: readonly string[]
  /** Parts of it that are switched off by themselves, as `modules.<name>.enabled`. */
  readonly switches?: Readonly<Record<string, Switch>>
  /** Its section of the configuration, which has its name. */
  readonly settings?: S
  /** Variables that stand for keys of its settings. */
  readonly shortNames?: Readonly<Record<string, string>>
  /** Headers that prove who somebody without an account is. */
  readonly capabilities?: readonly string[]
  /** Headers that choose the terms of an answer, whoever asks: caches keep one for each, and a repeated request has the same. */
  readonly contexts?: readonly string[]
  readonly requires: R
  /** Present when enabled, undefined when not. */
  readonly uses: U
  /** Events that it emits: nobody else does. */
  readonly emits?: Events
  /** Events that it does something about: set-up returns a consumer of each. */
  readonly hears?: H
  /**
   * Which events of all modules in the list it hears beside those that it names, whatever modules these are: `house.events`
   * tells set-up of them, which returns a consumer of each.
   */
  overhears?(event: EventType): boolean
  /** What it does later: set-up returns a handler of each. */
  readonly jobs?: J
  readonly migrations?: URL
  /**
   * Whether it keeps something of people: `true`, and set-up returns `people`; or why there is nothing to erase and to tell.
   * A module with migrations says so, or the shop does not start.
   */
  readonly keepsOfPeople?: true | string
  /**
   * Why its settings cannot be used together, or in this environment. The start and `config check` call it before anything
   * is opened, so set-up relies on it and checks no setting itself. Keys are those of its section.
   */
  validate?(settings: SettingsOf<S>, config: Platform['config']): readonly SettingProblem[]
  /** What `doctor` asks about the installation for its sake: others that it needs, settings that contradict each other. */
  diagnose?(settings: SettingsOf<S>, world: Pick<Platform, 'config' | 'http'>): readonly Diagnosis[]
  // A method and not a property: TypeScript compares parameters of methods both ways, so a module that asks for
  // certain settings and APIs may stand in a list of modules of any kind.
  setup(
    platform: OwnPlatform,
    settings: SettingsOf<S>,
    apis: Apis<R, U>
  ): Promise<ModuleInstance<Api, ConsumersOf<H>, HandlersOf<J>>>
}

/** Takes the types of a module from its declaration. */
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
/** A module whose API is looked up, typed by its declaration. */
export type ModuleWith<Api> = { name: string; setup: (...args: never[]) => Promise<{ api: Api }> }
/** The API of a module; `undefined` when it is disabled. */
export type ApiOf = <Api>(module: ModuleWith<Api>) => Api | undefined
export type Switches = Readonly<Record<string, { readonly enabled: boolean }>>

export const isEnabled = (module: Module, switches: Switches) => switches[module.name]?.enabled === true

export const describeModules = (modules: readonly Module[], switches: Switches): DescribedModule[] =>
  modules.map(module => ({
    name: module.name,
    enabled: isEnabled(module, switches),
    requires: Object.values(module.requires).map(({ name }) => name),
    uses: Object.values(module.uses).map(({ name }) => name),
    parts: Object.entries(module.switches ?? {}).map(([name, { basePaths }]) => ({
      name,
      enabled: isEnabled(module, switches) && switches[name]?.enabled === true,
      base_paths: [...basePaths]
    })),
    base_paths: [...module.basePaths],
    description: module.description
  }))

/**
 * The enabled modules, each behind all that it requires and uses. What is meant by a required module is the one of its
 * name in the list, which may stand in for it.
 */
export function orderModules(modules: readonly Module[], switches: Switches): Module[] {
  const ordered = new Set<Module>()
  const visit = (module: Module) => {
    if (ordered.has(module) || !isEnabled(module, switches)) return
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
