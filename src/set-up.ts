import { type ConfigOf, withoutSecrets } from './config.ts'
import { OperatorError } from './kernel/errors.ts'
import type { EventType, JobType } from './kernel/events.ts'
import {
  type ApiOf,
  describeModules,
  type House,
  isEnabled,
  type LoadedModule,
  type Module,
  type ModuleInstance,
  type ModuleWith,
  type OwnPlatform,
  orderModules,
  type Switches
} from './module.ts'
import { moduleProblems } from './module-problems.ts'
import type { Handler } from './platform/outbox/handlers.ts'
import type { People } from './platform/people.ts'
import type { Platform } from './platform/platform.ts'

/**
 * Sets the enabled modules up, each behind what it needs. When one cannot be, all the others are stopped again.
 * @throws OperatorError naming every problem at once.
 */
export async function setupModules(modules: readonly Module[], platform: Platform): Promise<LoadedModule[]> {
  const switches: Switches = platform.config.modules
  const problems = moduleProblems(modules, switches)
  if (problems.length > 0)
    throw new OperatorError(`The modules do not fit together:\n  ${problems.join('\n  ')}`)

  const { outbox } = platform
  // Before the first set-up, which may emit something.
  const events = modules.flatMap(({ emits = [] }) => emits)
  outbox.route(
    routesOf(
      modules.filter(module => isEnabled(module, switches)),
      events
    )
  )
  const settingUp = new Map<string, Promise<LoadedModule>>()
  const people = new Map<string, People>()
  const sections = platform.config as unknown as Readonly<Record<string, object>>
  const house: House = {
    modules: describeModules(modules, switches),
    events,
    config: () => withoutSecrets(modules, platform.config as ConfigOf<Module>),
    people: () => people
  }
  /** Behind all that it needs. */
  async function setUp(module: Module): Promise<LoadedModule> {
    const needed = Object.entries({ ...module.requires, ...module.uses }).map(
      async ([key, { name }]) => [key, (await settingUp.get(name))?.instance.api] as const
    )
    const apis = Object.fromEntries(await Promise.all(needed))
    const instance = await module.setup(
      { ...ownPlatform(platform, module), house },
      sections[module.name] ?? {},
      apis
    )
    return { module, instance }
  }

  // Those that do not need each other ask the database meanwhile.
  for (const module of orderModules(modules, switches)) settingUp.set(module.name, setUp(module))
  try {
    const loaded = await Promise.all(settingUp.values())
    for (const { module, instance } of loaded) {
      for (const [name, handler] of handlersOf(module, instance, events)) outbox.attach(name, handler)
      if ((module.keepsOfPeople === true) !== (instance.people !== undefined))
        throw new Error(
          `module ${module.name}: keepsOfPeople is true where set-up returns people, and nowhere else`
        )
      if (instance.people !== undefined) people.set(module.name, instance.people)
    }
    return loaded
  } catch (error) {
    const ended = await Promise.allSettled(settingUp.values())
    const loaded = ended.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []))
    // What failed first is what the operator has to know; a stop that fails too comes of it.
    await stopModules(loaded).catch(() => {})
    throw error
  }
}

function ownPlatform(
  { outbox, ...platform }: Platform,
  { name, emits = [], jobs = [] }: Module
): Omit<OwnPlatform, 'house'> {
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

/** All that a module hears, of the events that modules in the list emit. */
const heardBy = (module: Module, emitted: readonly EventType[]): EventType[] => {
  const { hears = [] } = module
  return [...hears, ...emitted.filter(event => !hears.includes(event) && module.overhears?.(event) === true)]
}

/** Who is told of each event, by its name. */
function routesOf(enabled: readonly Module[], emitted: readonly EventType[]): Map<string, string[]> {
  const heard = enabled.flatMap(module => heardBy(module, emitted).map(event => ({ module, event })))
  return new Map(
    [...Map.groupBy(heard, ({ event }) => event.name)].map(([name, all]) => [
      name,
      all.map(({ module, event }) => handlerNameOf(module, event))
    ])
  )
}

/** What a module does about events and jobs, by the names of handlers. @throws when something it declares has none. */
function handlersOf(
  module: Module,
  { consumers, wants, handlers }: ModuleInstance<unknown>,
  emitted: readonly EventType[]
): [string, Handler][] {
  const present = <T>(found: T | undefined, name: string, what: string): T => {
    if (found === undefined)
      throw new Error(`module ${module.name} ${what} ${name}, and its set-up gave nothing for it`)
    return found
  }
  return [
    ...heardBy(module, emitted).map((event): [string, Handler] => [
      handlerNameOf(module, event),
      {
        consume: present(consumers?.[event.name], event.name, 'hears'),
        isWanted: wants && (() => wants(event.name))
      }
    ]),
    ...(module.jobs ?? []).map(({ name, ...timing }): [string, Handler] => [
      name,
      { run: present(handlers?.[name], name, 'does'), ...timing }
    ])
  ]
}

/**
 * Stops them in the reverse order of their set-up, each whether or not the others can be stopped.
 * @throws AggregateError of all that went wrong.
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

/** Looks up the APIs of these modules, by the modules' names. */
export const apisOf =
  (loaded: readonly LoadedModule[]): ApiOf =>
  <Api>({ name }: ModuleWith<Api>) =>
    loaded.find(({ module }) => module.name === name)?.instance.api as Api | undefined
