import { type ConfigOfModules, maskConfigSecrets } from './config.ts'
import { OperatorError } from './kernel/errors.ts'
import type { EventType, JobType } from './kernel/events.ts'
import {
  type GetModuleApi,
  isModuleEnabled,
  type LoadedModule,
  listModuleStatuses,
  type Module,
  type ModuleInstance,
  type ModulePlatform,
  type ModuleSwitches,
  type ModuleWithApi,
  type ShopOverview,
  sortEnabledModulesByDependency
} from './module.ts'
import { createFieldRegistry } from './module-fields.ts'
import { createPortRegistry } from './module-ports.ts'
import { findModuleProblems } from './module-problems.ts'
import type { EventOrJobHandler } from './platform/outbox/handlers.ts'
import type { PersonalDataHandler } from './platform/personal-data.ts'
import type { Platform } from './platform/platform.ts'

/**
 * Sets up the enabled modules, each after the modules that it needs. When one fails, the others are stopped. `fields`: connects
 * the fields that modules add to resources of others.
 * @throws OperatorError that lists all problems.
 */
export async function setUpModules(
  modules: readonly Module[],
  platform: Platform,
  fields = createFieldRegistry(modules, platform)
): Promise<LoadedModule[]> {
  const switches: ModuleSwitches = platform.config.modules
  assertNoModuleProblems(findModuleProblems(modules, switches))

  const { outbox } = platform
  // All event handlers are known before the first set-up, because a set-up may emit events.
  const events = modules.flatMap(({ emits = [] }) => emits)
  outbox.setSubscriptions(
    routesOf(
      modules.filter(module => isModuleEnabled(module, switches)),
      events
    )
  )
  const registry = createPortRegistry()
  const settingUp = new Map<string, Promise<LoadedModule>>()
  const personalData = new Map<string, PersonalDataHandler>()
  const sections = platform.config as unknown as Readonly<Record<string, object>>
  const house: ShopOverview = {
    modules: listModuleStatuses(modules, switches),
    events,
    config: () => maskConfigSecrets(modules, platform.config as ConfigOfModules<Module>),
    personalData: () => personalData
  }
  /** Waits until the modules that this one needs are set up. */
  async function setUp(module: Module): Promise<LoadedModule> {
    const needed = Object.entries({ ...module.requires, ...module.uses }).map(
      async ([key, { name }]) => [key, (await settingUp.get(name))?.instance.api] as const
    )
    const apis = Object.fromEntries(await Promise.all(needed))
    const instance = await module.setup(
      {
        ...ownPlatform(platform, module),
        ports: registry.readerFor(module),
        fieldsOf: fields.fieldsOf,
        house
      },
      sections[module.name] ?? {},
      apis
    )
    return { module, instance }
  }

  // Independent modules are set up concurrently.
  for (const module of sortEnabledModulesByDependency(modules, switches))
    settingUp.set(module.name, setUp(module))
  try {
    const loaded = await Promise.all(settingUp.values())
    assertNoModuleProblems([...registry.connect(loaded), ...fields.connect(loaded)])
    for (const { module, instance } of loaded) {
      for (const [name, handler] of handlersOf(module, instance, events)) outbox.attachHandler(name, handler)
      if ((module.personalData === true) !== (instance.personalData !== undefined))
        throw new Error(
          `module ${module.name}: personalData must be true if, and only if, set-up returns personalData`
        )
      if (instance.personalData !== undefined) personalData.set(module.name, instance.personalData)
    }
    const ofLog = platform.eventLog.personalDataOf(events)
    if (ofLog !== undefined) personalData.set('event_log', ofLog)
    return loaded
  } catch (error) {
    const ended = await Promise.allSettled(settingUp.values())
    const loaded = ended.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []))
    // The first error is the cause, so an error of stopping is ignored.
    await stopModules(loaded).catch(() => {})
    throw error
  }
}

/** @throws OperatorError that lists the problems. */
function assertNoModuleProblems(problems: readonly string[]): void {
  if (problems.length > 0)
    throw new OperatorError(`The modules do not fit together:\n  ${problems.join('\n  ')}`)
}

function ownPlatform(
  { outbox, ...platform }: Platform,
  { name, emits = [], jobs = [] }: Module
): Omit<ModulePlatform, 'house' | 'ports' | 'fieldsOf'> {
  const declares = (own: readonly unknown[], type: EventType | JobType) => {
    if (!own.includes(type)) throw new Error(`module ${name} does not declare ${type.name}`)
  }
  return {
    ...platform,
    metrics: platform.metrics.prefixed(name),
    emit: (tx, type, subject, payload) => {
      declares(emits, type)
      outbox.emit(tx, type, subject, payload)
    },
    enqueue: (tx, type, payload, options) => {
      declares(jobs, type)
      outbox.enqueue(tx, type, payload, options)
    },
    deliveries: outbox.console
  }
}

const handlerNameOf = (module: Module, event: EventType) => `${module.name}:${event.name}`

/** Returns the emitted events that a module subscribes to. */
const subscriptionsOf = (module: Module, emitted: readonly EventType[]): EventType[] => {
  const { subscribes = [] } = module
  return [
    ...subscribes,
    ...emitted.filter(event => !subscribes.includes(event) && module.subscribesTo?.(event) === true)
  ]
}

/** Returns handler names by event name. */
function routesOf(enabled: readonly Module[], emitted: readonly EventType[]): Map<string, string[]> {
  const subscriptions = enabled.flatMap(module =>
    subscriptionsOf(module, emitted).map(event => ({ module, event }))
  )
  return new Map(
    [...Map.groupBy(subscriptions, ({ event }) => event.name)].map(([name, all]) => [
      name,
      all.map(({ module, event }) => handlerNameOf(module, event))
    ])
  )
}

/** Returns the handlers of a module by name. @throws when a declared event or job has none. */
function handlersOf(
  module: Module,
  { eventHandlers, isWanted, jobHandlers, hasWork }: ModuleInstance<unknown>,
  emitted: readonly EventType[]
): [string, EventOrJobHandler][] {
  const present = <T>(found: T | undefined, name: string, what: string): T => {
    if (found === undefined)
      throw new Error(`module ${module.name} ${what} ${name}, but its set-up returns no handler`)
    return found
  }
  return [
    ...subscriptionsOf(module, emitted).map((event): [string, EventOrJobHandler] => [
      handlerNameOf(module, event),
      {
        handleEvents: present(eventHandlers?.[event.name], event.name, 'subscribes to'),
        isWanted: isWanted && ((payload, together) => isWanted(event.name, payload, together))
      }
    ]),
    ...(module.jobs ?? []).map(({ name, ...timing }): [string, EventOrJobHandler] => [
      name,
      {
        ...timing,
        runJob: present(jobHandlers?.[name], name, 'declares the job'),
        hasWork: (hasWork as Record<string, () => Promise<boolean>> | undefined)?.[name]
      }
    ])
  ]
}

/** Checks that the shop may begin to serve with these modules. @throws OperatorError that lists the problems of all modules. */
export async function assertModulesCanStart(loaded: readonly LoadedModule[]): Promise<void> {
  const problems = await Promise.all(loaded.map(({ instance }) => instance.findStartProblems?.() ?? []))
  if (problems.flat().length > 0)
    throw new OperatorError(`The shop cannot start:\n  ${problems.flat().join('\n  ')}`)
}

/**
 * Stops modules in the reverse order of their set-up. A failure does not prevent stopping the others.
 * @throws AggregateError with all failures.
 */
export async function stopModules(loaded: readonly LoadedModule[]): Promise<void> {
  const errors: unknown[] = []
  for (const { instance } of loaded.toReversed()) {
    try {
      await instance.stop?.()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, 'not every module could be stopped')
}

/** Returns a lookup of these modules' APIs by module name. */
export const createModuleApiLookup =
  (loaded: readonly LoadedModule[]): GetModuleApi =>
  <Api>({ name }: ModuleWithApi<Api>) =>
    loaded.find(({ module }) => module.name === name)?.instance.api as Api | undefined
