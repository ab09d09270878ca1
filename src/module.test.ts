import { expect, test } from 'vitest'
import { loadConfig } from './config.ts'
import { OperatorError } from './kernel/errors.ts'
import { defineEvent, defineJob } from './kernel/events.ts'
import { definePort, type Port, type PortProvider, provide } from './kernel/ports.ts'
import { integerSetting, settingsSection } from './kernel/settings.ts'
import { Id } from './kernel/wire.ts'
import {
  defineModule,
  type Module,
  migrationSources,
  type ShopOverview,
  sortEnabledModulesByDependency
} from './module.ts'
import { findModuleProblems } from './module-problems.ts'
import { createMetricRegistry } from './platform/metrics/registry.ts'
import type { PersonalDataHandler } from './platform/personal-data.ts'
import type { Platform } from './platform/platform.ts'
import { createModuleApiLookup, setUpModules, stopModules } from './set-up.ts'

type Options = {
  requires?: Record<string, Module>
  uses?: Record<string, Module>
  basePaths?: string[]
  setup?: () => Promise<void>
  stop?: () => Promise<void>
}
let events: string[] = []

/** A module that records its set-up and stop. Its API is the arguments of its set-up. */
function fake(name: string, options: Options = {}): Module {
  return defineModule({
    name,
    description: name,
    basePaths: options.basePaths ?? [`/api/${name}`],
    requires: options.requires ?? {},
    uses: options.uses ?? {},
    setup: async (_platform, _settings, apis) => {
      await options.setup?.()
      events.push(`set up ${name}`)
      return {
        api: { name, apis },
        stop: async () => {
          events.push(`stop ${name}`)
          await options.stop?.()
        }
      }
    }
  })
}

const switchesOf = (modules: readonly Module[], disabled: readonly string[] = []) =>
  Object.fromEntries(modules.map(({ name }) => [name, { enabled: !disabled.includes(name) }]))

const outbox = { setSubscriptions: () => {}, attachHandler: () => {} }
const eventLog = { personalDataOf: () => undefined }
const platformOf = (config: object, metrics = createMetricRegistry()) =>
  ({ config, metrics, outbox, eventLog }) as unknown as Platform

function setUp(modules: readonly Module[], disabled: readonly string[] = []) {
  events = []
  return setUpModules(modules, platformOf({ modules: switchesOf(modules, disabled) }))
}

const names = (modules: readonly Module[]) => modules.map(({ name }) => name)

test('each module is set up after the modules that it requires and uses, in any list order', () => {
  const a = fake('a')
  const b = fake('b', { requires: { a } })
  const c = fake('c', { uses: { b } })
  const d = fake('d', { requires: { c, a } })
  const wanted = ['a', 'b', 'c', 'd']
  for (const modules of [
    [a, b, c, d],
    [d, c, b, a],
    [c, a, d, b]
  ]) {
    expect(names(sortEnabledModulesByDependency(modules, switchesOf(modules)))).toEqual(wanted)
  }
})

test('independent modules are set up in the order of the list', () => {
  const modules = ['z', 'm', 'a'].map(name => fake(name))
  expect(names(sortEnabledModulesByDependency(modules, switchesOf(modules)))).toEqual(['z', 'm', 'a'])
})

test('a module gets the APIs of required modules, and of used modules that are enabled', async () => {
  const stock = fake('stock')
  const catalog = fake('catalog')
  const cart = fake('cart', { requires: { shelf: catalog }, uses: { stock } })
  const withStock = await setUp([cart, stock, catalog])
  expect(withStock.at(-1)?.instance.api).toMatchObject({
    apis: { shelf: { name: 'catalog' }, stock: { name: 'stock' } }
  })
  const without = await setUp([cart, stock, catalog], ['stock'])
  expect(without.map(({ module }) => module.name)).toEqual(['catalog', 'cart'])
  expect(without.at(-1)?.instance.api).toEqual({
    name: 'cart',
    apis: { shelf: { name: 'catalog', apis: {} }, stock: undefined }
  })
})

test('a module that is disabled or has no section in the configuration is not set up', async () => {
  const modules = [fake('a'), fake('b')]
  await setUp(modules, ['a'])
  expect(events).toEqual(['set up b'])
  expect(sortEnabledModulesByDependency(modules, {})).toEqual([])
})

test("all problems of a shop's modules are reported together, each with the key to change, and nothing is set up", async () => {
  const catalog = fake('catalog')
  const auth = fake('auth')
  const cart = fake('cart', { requires: { catalog, auth } })
  const orders = fake('orders', { requires: { catalog }, basePaths: ['/api/orders', '/api/cart'] })
  const modules = [auth, catalog, cart, orders]
  const error = await setUp(modules, ['catalog', 'auth']).catch(reason => reason)
  expect(error).toBeInstanceOf(OperatorError)
  const advice = (module: string, required: string) =>
    `  module ${module} requires module ${required}, which is disabled: ` +
    `set modules.${required}.enabled: true or modules.${module}.enabled: false`
  expect(error.message.split('\n').slice(1)).toEqual([
    advice('cart', 'catalog'),
    advice('cart', 'auth'),
    advice('orders', 'catalog'),
    '  base path /api/cart is claimed twice, the second time by module orders'
  ])
  expect(events).toEqual([])
})

test('a required module that is not in the list, and a duplicate module name, are reported', () => {
  const catalog = fake('catalog')
  const cart = fake('cart', { requires: { catalog } })
  expect(findModuleProblems([cart], switchesOf([cart]))).toEqual([
    'module cart requires module catalog, which is not in the list of modules'
  ])
  const other = fake('cart', { basePaths: ['/api/baskets'] })
  const modules = [catalog, cart, other]
  expect(findModuleProblems(modules, switchesOf(modules))).toEqual(['two modules are called cart'])
})

test("the switch of a module's part must cover paths of that module", () => {
  const shop = (path: string) => ({
    ...fake('shop', { basePaths: ['/api/shop'] }),
    switches: { tills: { description: 'Tills.', basePaths: [path] } }
  })
  for (const path of ['/api/shop', '/api/shop/tills'])
    expect(findModuleProblems([shop(path)], switchesOf([shop(path)]))).toEqual([])
  expect(findModuleProblems([shop('/api/shopping')], {})).toEqual([
    'switch tills covers /api/shopping, which is no path of its module shop'
  ])
})

test('nested base paths of two modules do not clash, and a disabled module requires nothing', () => {
  const shop = fake('shop', { basePaths: ['/api/shop'] })
  const deep = fake('deep', { basePaths: ['/api/shop/deep'], requires: { shop } })
  expect(findModuleProblems([shop, deep], switchesOf([shop, deep]))).toEqual([])
  expect(findModuleProblems([shop, deep], switchesOf([shop, deep], ['shop', 'deep']))).toEqual([])
})

test('a used module that is not listed is undefined, and a module of the same name replaces a required one', async () => {
  const catalog = fake('catalog')
  const cart = fake('cart', { requires: { catalog } })
  await expect(setUp([cart])).rejects.toThrow(
    'module cart requires module catalog, which is not in the list of modules'
  )
  const standIn = fake('catalog')
  const loaded = await setUp([cart, standIn])
  expect(loaded.map(({ module }) => module)).toEqual([standIn, cart])
  expect(createModuleApiLookup(loaded)(catalog)).toBe(loaded[0]?.instance.api)
})

test('modules are stopped in the reverse order of their set-up', async () => {
  const a = fake('a')
  const b = fake('b', { requires: { a } })
  const loaded = await setUp([b, a, fake('c')])
  await stopModules(loaded)
  expect(events.slice(0, 3).filter(event => event !== 'set up c')).toEqual(['set up a', 'set up b'])
  expect(events.slice(3)).toEqual(['stop c', 'stop b', 'stop a'])
})

test('a module that fails to stop is reported, and the other modules are stopped', async () => {
  const broken = (name: string) => () => Promise.reject(new Error(`${name} hangs`))
  const modules = [fake('a', { stop: broken('a') }), fake('b'), fake('c', { stop: broken('c') }), fake('d')]
  const loaded = await setUp(modules)
  const error = await stopModules(loaded).catch(reason => reason)
  expect(events.slice(4)).toEqual(['stop d', 'stop c', 'stop b', 'stop a'])
  expect(error).toBeInstanceOf(AggregateError)
  expect(error.errors.map((each: Error) => each.message)).toEqual(['c hangs', 'a hangs'])
})

test('independent modules are set up concurrently', async () => {
  const { promise: bothBegan, resolve } = Promise.withResolvers<void>()
  const a = fake('a', { setup: () => bothBegan })
  await setUp([a, fake('b', { setup: async () => resolve() })])
  expect(events.sort()).toEqual(['set up a', 'set up b'])
})

test('when the set-up of a module fails, the other modules are stopped and its error is reported', async () => {
  const failure = new Error('no connection')
  const a = fake('a', { stop: () => Promise.reject(new Error('a hangs')) })
  const b = fake('b', { requires: { a } })
  const c = fake('c', { requires: { b }, setup: () => Promise.reject(failure) })
  await expect(setUp([a, b, c, fake('d')])).rejects.toBe(failure)
  expect(events.slice(0, 3).sort()).toEqual(['set up a', 'set up b', 'set up d'])
  expect(events.slice(3)).toEqual(['stop d', 'stop b', 'stop a'])
})

test('a module with tables that declares nothing about personal data prevents the start', async () => {
  const migrations = new URL('file:///shop/migrations/')
  const wishlist = { ...fake('wishlist'), migrations }
  const personalData: PersonalDataHandler = { erase: async () => {}, export: async () => 'wishes' }
  const returning = { setup: async () => ({ api: {}, personalData }) }
  await expect(setUp([wishlist])).rejects.toThrow(
    'module wishlist has tables and declares nothing about personal data: declare personalData: true'
  )
  await expect(setUp([{ ...wishlist, personalData: true }])).rejects.toThrow(
    'module wishlist: personalData must be true if, and only if, set-up returns personalData'
  )
  await expect(setUp([{ ...wishlist, personalData: 'Nothing.', ...returning }])).rejects.toThrow(
    'module wishlist: personalData must be true if'
  )
  await setUp([{ ...wishlist, personalData: 'Wishes belong to no customer.' }])

  let kept: ShopOverview['personalData'] | undefined
  const auth: Module = {
    ...fake('auth'),
    setup: async ({ house }) => {
      kept = house.personalData
      return { api: {} }
    }
  }
  await setUp([auth, { ...wishlist, personalData: true, ...returning }, fake('shelf')])
  expect([...(kept?.() ?? [])]).toEqual([['wishlist', personalData]])
})

test('migrations come from all modules that have them, enabled or not', () => {
  const folder = new URL('file:///shop/migrations/')
  const shop = { ...fake('shop'), migrations: folder, personalData: 'Nothing.' }
  expect(migrationSources([fake('a'), shop])).toEqual([{ module: 'shop', folder }])
})

test('the set-up of a module without the required APIs does not compile', () => {
  const shelf = defineModule({
    name: 'shelf',
    description: '',
    basePaths: [],
    settings: settingsSection('', { width: integerSetting('', 3) }),
    requires: {},
    uses: {},
    setup: async (_platform, { width }) => ({ api: { width: () => width } })
  })
  const shop = defineModule({
    name: 'shop',
    description: '',
    basePaths: [],
    requires: { shelf },
    uses: { stock: shelf },
    setup: async (_platform, _settings, apis) => ({ api: apis.shelf.width() + (apis.stock?.width() ?? 0) })
  })
  const check = (platform: Parameters<typeof shop.setup>[0], api: { width(): number }) => [
    shelf.setup(platform, { width: 1 }, {}),
    shop.setup(platform, {}, { shelf: api, stock: undefined }),
    // @ts-expect-error: its settings have a width
    shelf.setup(platform, {}, {}),
    // @ts-expect-error: what it requires
    shop.setup(platform, {}, { stock: api }),
    // @ts-expect-error: what it uses is absent by name
    shop.setup(platform, {}, { shelf: api }),
    // @ts-expect-error: an API of another form
    shop.setup(platform, {}, { shelf: { height: () => 1 }, stock: undefined }),
    // @ts-expect-error: a module that it uses may be disabled
    defineModule({ ...shop, setup: async (_p, _s, { stock }) => ({ api: stock.width() }) })
  ]
  expect(check).toBeTypeOf('function')
})

test('a module gets its own section of the configuration without naming the section', async () => {
  const seen: unknown[] = []
  const module = defineModule({
    name: 'shelf',
    description: 'Shelves.',
    basePaths: [],
    settings: settingsSection('Shelves.', { width: integerSetting('How wide.', 3) }),
    shortNames: { SHELF_WIDTH: 'width' },
    requires: {},
    uses: {},
    setup: async (_platform, settings) => ({ api: seen.push(settings) })
  })
  const config = loadConfig([module], { SHELF_WIDTH: '7' })
  await setUpModules([module], platformOf(config))
  expect(seen).toEqual([{ width: 7 }])
  expect(loadConfig([module], { CARTWRIGHT__SHELF__WIDTH: '8' }).shelf.width).toBe(8)
  expect(() => loadConfig([module], { CARTWRIGHT__SHELF__WIDHT: '8' })).toThrow('did you mean width?')
  expect(() => loadConfig([], { SHELF_WIDTH: '7', CARTWRIGHT__SHELF__WIDTH: '7' })).toThrow(
    'unknown key shelf'
  )
})

test('metrics are prefixed with the module name, so that two modules can use the same name', async () => {
  const metrics = createMetricRegistry()
  const modules = ['shelf', 'shop'].map(name =>
    defineModule({
      name,
      description: '',
      basePaths: [],
      requires: {},
      uses: {},
      setup: async own => ({ api: own.metrics.counter('visits', 'Visits.', {}).add({}) })
    })
  )
  await setUpModules(modules, platformOf({ modules: switchesOf(modules) }, metrics))
  expect(metrics.all().map(({ name }) => name)).toEqual([
    'cartwright_resource_field_failures_total',
    'cartwright_shelf_visits_total',
    'cartwright_shop_visits_total'
  ])
})

test('a module cannot have the name of a core section of the configuration', () => {
  const server = fake('server')
  expect(() => loadConfig([server], {})).toThrow('the module server has the name of another section')
})

test('a part of a module has a switch in the configuration, and its name must be unique', () => {
  const tills = { tills: { description: 'Tills.', basePaths: ['/api/shop/tills'] } }
  const market = { ...fake('market'), basePaths: ['/api/shop'], switches: tills }
  expect(loadConfig([market], { CARTWRIGHT__MODULES__TILLS__ENABLED: 'false' }).modules).toEqual({
    market: { enabled: true },
    tills: { enabled: false }
  })
  expect(() => loadConfig([market, fake('tills')], {})).toThrow(
    'two modules, or parts of them, are called tills'
  )
})

const told = defineEvent(
  'teller.told',
  { description: 'A tale was told.', subject: 'the tale' },
  { tale: Id }
)
const sweep = defineJob('teller.sweep', { description: 'Sweeps.', timeoutSeconds: 1 }, {})

test('a subscription to an event that no module emits, or that two modules emit, prevents the start', () => {
  const teller = { ...fake('teller'), emits: [told] }
  const listener = { ...fake('listener'), subscribes: [told] }
  expect(findModuleProblems([listener], switchesOf([listener]))).toEqual([
    'module listener subscribes to teller.told, which no module in the list emits: add the one that does, or name it in uses'
  ])
  const modules = [teller, listener]
  expect(findModuleProblems(modules, switchesOf(modules, ['teller']))).toEqual([])
  // A used module need not be in the list. Then its events are not emitted.
  const user = { ...listener, uses: { teller } }
  expect(findModuleProblems([user], switchesOf([user]))).toEqual([])
  const other = { ...fake('other'), emits: [told] }
  expect(findModuleProblems([teller, other], {})).toEqual(['two modules emit teller.told'])
})

test('the set-up of a module fails when a handler is missing for a subscribed event or a job', async () => {
  const teller = { ...fake('teller'), emits: [told] }
  const deaf = { ...fake('deaf'), subscribes: [told] }
  await expect(setUp([teller, deaf])).rejects.toThrow(
    'module deaf subscribes to teller.told, but its set-up returns no handler'
  )
  expect(events).toEqual(['set up teller', 'set up deaf', 'stop deaf', 'stop teller'])
  const idle = { ...fake('idle'), jobs: [sweep] }
  await expect(setUp([idle])).rejects.toThrow(
    'module idle declares the job teller.sweep, but its set-up returns no handler'
  )
})

test('a module can emit only its own events and enqueue only its own jobs', async () => {
  const seen: string[] = []
  const teller = defineModule({
    name: 'teller',
    description: '',
    basePaths: [],
    requires: {},
    uses: {},
    emits: [],
    setup: async ({ emit, enqueue }) => {
      const note = (work: () => void) => {
        try {
          work()
        } catch (error) {
          seen.push((error as Error).message)
        }
      }
      note(() => emit({} as never, told, '', { tale: '' }))
      note(() => enqueue({} as never, sweep, {}))
      return { api: {} }
    }
  })
  await setUp([teller])
  expect(seen).toEqual([
    'module teller does not declare teller.told',
    'module teller does not declare teller.sweep'
  ])
})

test('an event handler with another payload, or for an event without a subscription, does not compile', () => {
  const base = {
    name: 'ear',
    description: '',
    basePaths: [],
    requires: {},
    uses: {},
    subscribes: [told]
  } as const
  const ears = [
    defineModule({
      ...base,
      setup: async () => ({
        api: {},
        eventHandlers: { 'teller.told': async (_tx, [first]) => void first?.payload.tale.length }
      })
    }),
    defineModule({
      ...base,
      // @ts-expect-error: a tale is not a number
      setup: async () => ({
        api: {},
        eventHandlers: {
          'teller.told': async (_tx: unknown, [first]: { payload: { tale: number } }[]) => void first
        }
      })
    }),
    defineModule({
      ...base,
      // @ts-expect-error: it does not subscribe to this event
      setup: async () => ({ api: {}, eventHandlers: { 'teller.sold': async () => {} } })
    })
  ]
  expect(ears).toHaveLength(3)
})

type Greeter = { greet(): string }
const greeterPort = definePort<Greeter>('greetings.greeter', { description: 'Greets.', providers: 'many' })
const greeterOf = (text: string): Greeter => ({ greet: () => text })
const clockPort = definePort<() => number>('greetings.clock', {
  description: 'Tells the time.',
  providers: 'one',
  isRequired: true
})

/** The owner of both ports. Its API reads them. */
const greetingsModule = defineModule({
  name: 'greetings',
  description: 'Greets.',
  basePaths: [],
  requires: {},
  uses: {},
  ports: [greeterPort, clockPort],
  setup: async ({ ports }) => ({ api: ports })
})
const providerOf = (name: string, provides: Port[], providers: PortProvider[], uses = {}) =>
  defineModule({
    name,
    description: name,
    basePaths: [],
    requires: {},
    uses,
    provides,
    setup: async () => ({ api: {}, provides: providers })
  })
const clockModule = providerOf('clock', [clockPort], [provide(clockPort, 'system', Date.now)])

test('the owner of a port reads the providers of all modules after set-up', async () => {
  const english = providerOf('english', [greeterPort], [provide(greeterPort, 'english', greeterOf('Hello'))])
  const swedish = providerOf('swedish', [greeterPort], [provide(greeterPort, 'swedish', greeterOf('Hej'))])
  const off = providerOf('german', [greeterPort], [provide(greeterPort, 'german', greeterOf('Hallo'))])
  const loaded = await setUp([english, greetingsModule, off, swedish, clockModule], ['german'])
  const ports = createModuleApiLookup(loaded)(greetingsModule)
  const greetings = ports?.all(greeterPort).map(({ name, provider }) => [name, provider.greet()])
  expect(greetings).toEqual([
    ['english', 'Hello'],
    ['swedish', 'Hej']
  ])
  expect(ports?.only(clockPort)).toBe(Date.now)
})

test('a disabled owner makes its providers needless', async () => {
  await expect(setUp([greetingsModule, clockModule], ['greetings'])).resolves.toHaveLength(1)
})

const english = provide(greeterPort, 'english', greeterOf('Hello'))
const strangePort = definePort('elsewhere.port', { description: 'Has no owner.', providers: 'one' })
test.each([
  [
    'an unknown port',
    [providerOf('lost', [strangePort], [])],
    'module lost provides the port elsewhere.port, which no module in the list owns: add the one that does, or name it in uses'
  ],
  [
    'two providers of one name',
    [providerOf('a', [greeterPort], [english]), providerOf('b', [greeterPort], [english])],
    'the port greetings.greeter has two providers called english: of module a and of module b'
  ],
  [
    'two providers of a port that takes one',
    [clockModule, providerOf('clock2', [clockPort], [provide(clockPort, 'second', () => 0)])],
    'the port greetings.clock takes one provider and has 2, of module clock and module clock2'
  ],
  [
    'an undeclared provider',
    [clockModule, providerOf('secret', [], [english])],
    'module secret provides the port greetings.greeter without declaring it in provides'
  ],
  [
    'no provider of a required port',
    [],
    'module greetings needs a provider of the port greetings.clock, and no enabled module provides one: Tells the time.'
  ]
])('the start fails with a sentence for %s', async (_what, modules, sentence) => {
  const hasClock = modules.some(({ provides }) => provides?.includes(clockPort)) || modules.length === 0
  const all = [greetingsModule, ...modules, ...(hasClock ? [] : [clockModule])]
  await expect(setUp(all)).rejects.toThrow(`The modules do not fit together:\n  ${sentence}`)
})

test('a port cannot be read before all modules are set up, nor by a module that does not own it', async () => {
  const early = defineModule({
    ...greetingsModule,
    setup: async ({ ports }) => ({ api: ports.all(greeterPort) })
  })
  await expect(setUp([early, clockModule])).rejects.toThrow(
    'module greetings reads the port greetings.greeter before all modules are set up'
  )
  const other = defineModule({
    name: 'other',
    description: 'Other.',
    basePaths: [],
    requires: {},
    uses: {},
    setup: async ({ ports }) => ({ api: ports.all(greeterPort) })
  })
  await expect(setUp([greetingsModule, clockModule, other])).rejects.toThrow(
    'module other does not declare the port greetings.greeter'
  )
  expect(() => definePort('greetings.greeter', { description: 'Again.', providers: 'many' })).toThrow(
    'the port greetings.greeter is declared twice'
  )
})

test('a port is named after its owner', () => {
  const misnamed = { ...greetingsModule, name: 'hello' }
  expect(findModuleProblems([misnamed, clockModule], {})).toContain(
    'module hello owns the port greetings.greeter, whose name must begin with "hello."'
  )
})
