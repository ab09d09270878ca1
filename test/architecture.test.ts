import { expect, test } from 'vitest'
import {
  BRANCHING_ROUTES,
  FOLDER_PAIRS_MAX,
  FOREIGN_TERMS,
  folderPairsOf,
  houseRules,
  rules
} from './support/house-rules.ts'
import { parseSource, readSources } from './support/source-files.ts'
import { tablesOf } from './support/sql-names.ts'

const files = (await readSources()).map(parseSource)

test.each(rules)('every source file keeps the architecture rule: $name', ({ check }) => {
  expect(files.flatMap(file => check(file).map(how => `${file.path} ${how}`))).toEqual([])
})

test.each(houseRules)('the sources together keep the architecture rule: $name', ({ check }) => {
  expect(check(files)).toEqual([])
})

test('every exception to an architecture rule is still needed', () => {
  const branching = files.filter(file => file.deeds.has('if') || file.deeds.has('try')).map(file => file.path)
  expect(Object.keys(BRANCHING_ROUTES).filter(path => !branching.includes(path))).toEqual([])
  const texts = files.filter(file => /^src\/(?:gateway|platform)\//.test(file.path)).map(file => file.text)
  expect(FOREIGN_TERMS.filter(term => !texts.some(text => text.search(term) >= 0))).toEqual([])
  const pairs = [...folderPairsOf(files)].map(([module, { length }]) => [module, length])
  expect(Object.fromEntries(pairs)).toEqual(FOLDER_PAIRS_MAX)
})

const sql = (text: string) =>
  `import { statement } from '../../../platform/postgres/statement.ts'\nexport const a = statement({ name: 'cart.a', text: \`${text}\` })`
const stockSql = (text: string) => sql(text).replace('cart.a', 'inventory.a')
const kernelWall = 'the kernel imports nothing of ours'
const platformWall = 'the platform imports the kernel alone'
const embeddedWall = 'the embedded PostgreSQL imports kernel and platform alone'
const postgresDoor =
  'PostgreSQL is used through the files of its folder, and not through those of its inner folders'
const gatewayWall = 'the gateway imports kernel and platform alone'
const sandboxWall = 'the payment sandbox imports the kernel alone, and only its provider loads it'
const moduleWall =
  'a module imports itself, the kernel, what it may of the platform, and the gateway in its routes'
const doors = 'the only way into a module is its index.ts, for values from another index.ts only'
const order = 'a module imports modules to its left in the order of modules only'
const fastifyWall = 'fastify is known to the gateway and to routes only'
const environment = 'the environment is read by config.ts only'
const sqlPlaces = 'SQL stands in repositories and in the platform only'
const schemas = "a module's SQL names its own schema, and names it always"
const levels = 'levels of stock are locked and changed by their writer alone'
const statementNames = 'a statement is called after its module'
const spreads = 'no object spreads an object that is written in place'
const transactionValues =
  'what belongs to a transaction is kept by createTransactionValue, because V8 frees entries of a WeakMap late'
const accessors =
  'an accessor belongs to a class, because V8 makes a hidden class for each object literal with one'
const folders = 'a folder says what is in it'
const nouns = "a module's files lie in the folders of its nouns, but for its declarations and its set-up"
const repeated = "a file does not repeat its folder's name"
const sizes = 'no file is longer than 300 lines, no test than 600'
const defaults = 'nothing is exported by default'
const routes = 'a route decides nothing'
const noNames = 'gateway and platform know no module by its name'
const classes = 'a route says what it is for'
const noReplay = 'an unsafe route hands its write on, or says why it has none'

test.each([
  [kernelWall, 'src/kernel/money.ts', "import { statement } from '../platform/postgres/statement.ts'"],
  [kernelWall, 'src/kernel/money.ts', "import type { Config } from '../config.ts'"],
  [kernelWall, 'src/kernel/money.ts', "export type { Offer } from '../modules/catalog/index.ts'"],
  [spreads, 'src/kernel/money.ts', 'export const a = { b, ...'.concat('{ c, d } }')],
  [platformWall, 'src/platform/cache/cache.ts', "import { sendProblem } from '../../gateway/problem.ts'"],
  [platformWall, 'src/platform/cache/cache.ts', "import { loadConfig } from '../../config.ts'"],
  [platformWall, 'src/platform/cache/cache.ts', "const a = await import('../../module.ts')"],
  [embeddedWall, 'src/embedded-postgres/open.ts', "import { loadConfig } from '../config.ts'"],
  [
    postgresDoor,
    'src/cli/doctor/checks.ts',
    "import { ConnectionPool } from '../../platform/postgres/connections/pool.ts'"
  ],
  [gatewayWall, 'src/gateway/server.ts', "import type { Offer } from '../modules/catalog/index.ts'"],
  [gatewayWall, 'src/gateway/server.ts', "import { loadConfig } from '../config.ts'"],
  [
    sandboxWall,
    'src/payment-sandbox/webhooks.ts',
    "import type { HttpClient } from '../platform/http/client.ts'"
  ],
  [
    sandboxWall,
    'src/modules/payments/index.ts',
    "const a = await import('../../payment-sandbox/child-process.ts')"
  ],
  [
    moduleWall,
    'src/modules/cart/carts/service.ts',
    "import { openDatabase } from '../../../platform/postgres/database.ts'"
  ],
  [
    moduleWall,
    'src/modules/cart/carts/service.ts',
    "import * as keys from '../../../platform/postgres/statement.ts'"
  ],
  [
    moduleWall,
    'src/modules/cart/carts/service.ts',
    "import { identityOf } from '../../../gateway/callers/identity.ts'"
  ],
  [
    moduleWall,
    'src/modules/cart/carts/service.ts',
    "import type { Tiers } from '../../../gateway/routing/tiers.ts'"
  ],
  [
    moduleWall,
    'src/modules/cart/carts/routes.ts',
    "import { sendProblem } from '../../../gateway/problem.ts'"
  ],
  [moduleWall, 'src/modules/cart/index.ts', "import { writeOf } from '../../gateway/writes/write.ts'"],
  [
    moduleWall,
    'src/modules/cart/set-up-guests.ts',
    "import { writeOf } from '../../gateway/writes/write.ts'"
  ],
  [moduleWall, 'src/modules/cart/merge/service.ts', "import { defineModule } from '../../../module.ts'"],
  [moduleWall, 'src/modules/cart/carts/service.ts', "import { version } from '../../../version.ts'"],
  [doors, 'src/modules/cart/carts/service.ts', "import { catalogModule } from '../../catalog/index.ts'"],
  [
    doors,
    'src/modules/cart/carts/service.ts',
    "import type { Offer } from '../../catalog/offers/service.ts'"
  ],
  [doors, 'src/modules/cart/index.ts', "import { createOffers } from '../catalog/offers/service.ts'"],
  [doors, 'src/cli/start.ts', "import { hash } from '../modules/auth/passwords/hashing.ts'"],
  [doors, 'src/app.ts', "import { fakeAuth } from './modules/auth/fake.ts'"],
  [fastifyWall, 'src/modules/cart/carts/service.ts', "import type { FastifyRequest } from 'fastify'"],
  [fastifyWall, 'src/platform/log.ts', "import swagger from '@fastify/swagger'"],
  [order, 'src/modules/catalog/index.ts', "import { cartModule } from '../cart/index.ts'"],
  [order, 'src/modules/auth/sessions/service.ts', "import type { CatalogApi } from '../../catalog/index.ts'"],
  [order, 'src/modules/catalog/index.ts', "export type { Line } from '../wishlist/index.ts'"],
  [order, 'src/modules/wishlist/errors.ts', ''],
  [environment, 'src/platform/log.ts', 'const a = process.env.LOG'],
  [environment, 'src/cli/start.ts', "const { env } = process.env['X']"],
  [sqlPlaces, 'src/modules/cart/carts/service.ts', sql('select a from cart.items')],
  [sqlPlaces, 'src/cli/start.ts', "await db.query('select 1')"],
  [sqlPlaces, 'src/cli/start.ts', 'await db.query(`select $' + '{a}`)'],
  [schemas, 'src/modules/cart/carts/repository.ts', sql('select a from catalog.variants')],
  [
    schemas,
    'src/modules/cart/carts/repository.ts',
    sql('select a from cart.items i join catalog.variants v on true')
  ],
  [schemas, 'src/modules/cart/carts/repository.ts', sql('insert into items (a) values (1)')],
  [
    schemas,
    'src/modules/cart/carts/repository.ts',
    sql('with old as (delete from items returning a) select a from old')
  ],
  [
    statementNames,
    'src/modules/cart/carts/repository.ts',
    sql('select 1').replace("'cart.a'", "'catalog.a'")
  ],
  [
    statementNames,
    'src/modules/cart/carts/repository.ts',
    "import { statement } from '../../../platform/postgres/statement.ts'\nstatement({ name: 'catalog.a', text: 'select 1' })"
  ],
  [levels, 'src/modules/inventory/levels/repository.ts', stockSql('update inventory.levels set on_hand = 1')],
  [
    levels,
    'src/modules/inventory/levels/repository.ts',
    stockSql('select on_hand from inventory.levels where item_id = $1 for update')
  ],
  [
    transactionValues,
    'src/modules/cart/carts/service.ts',
    'const changed = new WeakMap<Transaction, string[]>()'
  ],
  [accessors, 'src/kernel/money.ts', 'export const a = (b: number) => ({ get sum() { return b } })'],
  [folders, 'src/modules/cart/utils/sum.ts', ''],
  [folders, 'src/shared/sum.ts', ''],
  [folders, 'test/helpers/sum.ts', ''],
  [nouns, 'src/modules/cart/service.ts', ''],
  [nouns, 'src/modules/cart/sweep.ts', ''],
  [nouns, 'src/modules/cart/carts/lines/rule.ts', ''],
  [repeated, 'src/platform/postgres/postgres-pool.ts', ''],
  [repeated, 'src/modules/cart/merge/merge-rule.test.ts', ''],
  [sizes, 'src/gateway/server.ts', '\n'.repeat(301)],
  [sizes, 'src/gateway/server.test.ts', '\n'.repeat(601)],
  [defaults, 'src/gateway/server.ts', 'export default function a() {}'],
  [defaults, 'src/gateway/server.ts', 'const a = 1\nexport default a'],
  [defaults, 'src/gateway/server.ts', 'const a = 1\nexport { a as default }'],
  [noNames, 'src/gateway/writes/idempotency.ts', "const headers = ['x-guest-cart-token']"],
  [noNames, 'src/gateway/server.ts', "if (name === 'auth') a()"],
  [noNames, 'src/gateway/diagnostics/endpoints.ts', 'const path = `/api/carts/$' + '{a}`'],
  [noNames, 'src/platform/metrics/infrastructure.ts', 'export const catalogEntries = 1'],
  [noNames, 'src/platform/cache/cache.ts', 'const { cart } = config'],
  [classes, 'src/modules/cart/carts/routes.ts', "tiers.public.get('/cart', { schema }, a)"],
  [classes, 'src/modules/cart/guest/routes.ts', "tiers.secured.post('/cart', a => writeOf(request))"],
  [
    classes,
    'src/modules/cart/carts/routes.ts',
    "tiers.admin.put('/a', { config: { limit }, schema }, a => writeOf(request))"
  ],
  [
    noReplay,
    'src/modules/cart/carts/routes.ts',
    "tiers.secured.post('/cart', { config }, request => add(request.body))"
  ],
  [
    noReplay,
    'src/modules/cart/carts/routes.ts',
    "tiers.admin.delete('/a', { config, preHandler: writeOf(request) }, a)"
  ],
  [routes, 'src/modules/cart/carts/routes.ts', 'if (a) b()'],
  [routes, 'src/modules/cart/carts/routes.ts', 'try { a() } finally { b() }']
])('the architecture rule "%s" finds the violation planted in %s: %.90s', (name, path, text) => {
  const file = parseSource({ path, text })
  expect(rules.filter(rule => rule.check(file).length > 0).map(rule => rule.name)).toEqual([name])
})

test.each([
  [
    'src/modules/cart/carts/routes.ts',
    "tiers.secured.post('/a', { config: { class: 'bulk', noReplay: 'why' } }, a)"
  ],
  [
    'src/modules/cart/carts/routes.ts',
    "tiers.secured.post('/a', { config }, request => a(writeOf(request)))"
  ],
  [
    'src/modules/cart/carts/guest-routes.ts',
    "tiers.secured.post('/a', { config }, request => a(writeOf(request)))"
  ],
  ['src/modules/cart/carts/guest-repository.ts', sql('select a from cart.carts')],
  ['src/modules/cart/set-up-guests.ts', "import type { Tiers } from '../../gateway/routing/tiers.ts'"],
  ['src/kernel/money.ts', "import { newId } from './ids.ts'"],
  ['src/platform/cache/cache.ts', "import type { Config } from '../core-settings.ts'"],
  ['src/gateway/writes/write.ts', "import * as keys from '../../platform/idempotency/keys.ts'"],
  ['src/modules/cart/index.ts', "import { catalogModule } from '../catalog/index.ts'"],
  ['src/modules/cart/events.ts', ''],
  ['src/modules/cart/sweep.test.ts', ''],
  ['src/modules/cart/merge/rule.ts', ''],
  ['src/modules/cart/carts/service.ts', "import type { CatalogApi } from '../../catalog/index.ts'"],
  [
    'src/modules/cart/carts/service.ts',
    "import { newWrite, type Write } from '../../../platform/idempotency/write.ts'"
  ],
  [
    'src/modules/cart/merge/routes.ts',
    "import { writeOf } from '../../../gateway/writes/write.ts'\na ? b : c"
  ],
  ['src/modules/cart/carts/service.ts', 'switch (a) { default: b() }'],
  ['src/gateway/server.ts', "authenticate('Cartwright', register, cipher.getAuthTag())"],
  ['src/modules/cart/carts/routes.ts', "tiers.public.get('/cart', { config, schema }, a)"],
  ['src/modules/cart/carts/routes.ts', "tiers.public.get('/cart', { config: { ...config, limit } }, a)"],
  ['src/modules/cart/carts/repository.ts', sql('update cart.carts set a = b where c is distinct from d')],
  ['src/modules/inventory/writer/repository.ts', stockSql('update inventory.levels set on_hand = 1')],
  ['src/modules/inventory/levels/repository.ts', stockSql('select on_hand from inventory.levels')]
])('the architecture rules accept this code in %s: %s', (path, text) => {
  const file = parseSource({ path, text })
  expect(rules.flatMap(rule => rule.check(file))).toEqual([])
})

const settings = (keys: string) => `export const cartSettings = section('', { ${keys} })`
test.each([
  ['src/modules/cart/settings.ts', settings("lines_max: count('', 1), colour: text('', '')"), ['colour']],
  ['src/modules/cart/settings.ts', settings("deep: section('', { idle_days: count('', 1) })"), ['deep']],
  // Another module, and the base, have such a key; they do not read this one.
  [
    'src/modules/cart/settings.ts',
    settings("issuers: text('', ''), port: count('', 1)"),
    ['issuers', 'port']
  ],
  ['src/platform/core-settings.ts', settings("port: count('', 1), prot: count('', 1)"), ['prot']]
])('a setting that no code reads is found when it is declared in %s: %s', (path, text, unread) => {
  const planted = files.map(file => (file.path === path ? parseSource({ path, text }) : file))
  const problems = houseRules.flatMap(rule => rule.check(planted))
  expect(problems).toEqual(unread.map(key => `${path} declares ${key}, which no code reads`))
})

test.each([
  [
    'src/kernel/ids.ts',
    "import type { Page } from './pages.ts'",
    'src/kernel/pages.ts',
    "import { newId } from './ids.ts'",
    ['src/kernel/ids.ts > src/kernel/pages.ts > src/kernel/ids.ts']
  ],
  [
    'src/gateway/routing/json-parser.ts',
    "import '../http-server/framing.ts'",
    'src/gateway/http-server/draining.ts',
    "import '../routing/tiers.ts'",
    ['src/gateway/routing > src/gateway/http-server > src/gateway/routing']
  ],
  [
    'src/modules/cart/carts/service.ts',
    "import '../merge/rule.ts'",
    'src/modules/cart/merge/service.ts',
    "import type { Cart } from '../carts/view.ts'",
    ['src/modules/cart/carts <> src/modules/cart/merge']
  ]
])('the architecture rules find imports in both directions between %s: %s', (...planted) => {
  const [path, text, otherPath, otherText, circle] = planted
  const faults = [parseSource({ path, text }), parseSource({ path: otherPath, text: otherText })]
  expect(houseRules.flatMap(rule => rule.check(faults))).toEqual(circle)
})

test('the architecture rules read the tables of a statement from its SQL', () => {
  const names = (text: string) =>
    tablesOf(text).map(({ schema, table }) => (schema ? `${schema}.${table}` : table))
  expect(
    names(`with recursive expired as (
             select a from cart.carts where b is distinct from c limit 5 for update skip locked
           ), emptied (x) as materialized (delete from cart.items using cart.carts c where a in (select a from expired))
           insert into cart.items as present (a) select a from unnest($1::int[]) as line (a)
           on conflict (a) do update set a = 'from nowhere' -- from comments
           returning extract(epoch from a)`)
  ).toEqual(['cart.carts', 'cart.items', 'cart.carts', 'cart.items'])
  expect(names('update only carts set a = 1 from lateral (select 1) b')).toEqual(['carts'])
  expect(
    names('select a from b, jsonb_each(c) left join lateral cart.f(b) on true for no key update of b')
  ).toEqual(['b', 'cart.f'])
})
