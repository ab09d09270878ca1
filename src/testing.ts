import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import pg from 'pg'
import pino from 'pino'
import { openGatewayForShopModules, type ShopWithGateway, setUpShopModules, standardModules } from './app.ts'
import { loadConfig } from './config.ts'
import { openEmbeddedPostgres } from './embedded-postgres/open.ts'
import { type EventSubject, type EventType, listDeclaredEvents } from './kernel/events.ts'
import { listDeclaredPorts, type PortReader } from './kernel/ports.ts'
import type { Static, TSchema } from './kernel/schema.ts'
import { defineModule, type Module, migrationSources } from './module.ts'
import { type FakeAuth, fakeAuth } from './modules/auth/fake.ts'
import { outboxRecordingJobIntervals, planRecurringJobs } from './platform/outbox/recurring-jobs.ts'
import { strictOutbox } from './platform/outbox/strict-outbox.ts'
import { openPlatform, type Platform } from './platform/platform.ts'
import type { Database } from './platform/postgres/database.ts'
import { migrate } from './platform/postgres/migrate.ts'
import { createStatementRecorder, type RecordStatements } from './platform/postgres/recorder.ts'
import { createReplicaReadCheck } from './test-replica-reads.ts'
import { type RequestOptions, send, type TestResponse, type TestShopVerbs, verbsOf } from './test-requests.ts'

/** The contracts of ports, for the tests of their providers. */
export type { ExternalServiceControls, ExternalServiceFailure } from './contracts/external-service.ts'
export {
  type AcceptedMessage,
  type NotificationTransportSubject,
  notificationTransportContract,
  type TransportFailure
} from './contracts/notification-transport.ts'
export { type OrderCheckContractSubject, orderCheckContract } from './contracts/order-check.ts'
export { type PaymentProviderContractSubject, paymentProviderContract } from './contracts/payment-provider.ts'
export { type ShippingLabelsContractSubject, shippingLabelsContract } from './contracts/shipping-labels.ts'
export { type ShippingRatesContractSubject, shippingRatesContract } from './contracts/shipping-rates.ts'
export { type TaxEngineContractSubject, taxEngineContract } from './contracts/tax-engine.ts'

export { type ContractCase, type TenderContractSubject, tenderContract } from './contracts/tender.ts'

export { admin, customer, fakeAuth } from './modules/auth/fake.ts'
export { fakeCatalog } from './modules/catalog/fake.ts'
export { fakeInventory } from './modules/inventory/fake.ts'
/**
 * Payments in memory.
 * @example
 * const payments = fakePayments(() => db)
 * await assert.rejects(payments.findAccount(db, newId()), { code: 'PAYMENT_ORDER_NOT_FOUND' })
 */
export { fakePayments } from './modules/payments/fake.ts'
export { fakePricing } from './modules/pricing/fake.ts'
export { fakeShipping } from './modules/shipping/fake.ts'
export { type RequestOptions, send, type TestResponse } from './test-requests.ts'

/**
 * The modules, fakes, settings and database of a shop for tests.
 * @example
 * const options: TestShopOptions = { settings: { CARTWRIGHT__SHOP__CURRENCY: 'EUR' } }
 */
export type TestShopOptions<Apis = Record<string, object>> = {
  /** The modules under test, set up as in a shop; by default all built-in ones. */
  modules?: readonly Module[]
  /** Fake APIs of other modules, by module name. Without the module auth, `fakeAuth` is used. */
  instead?: Apis
  /** Environment variables of the configuration. `config.yaml` is not read. */
  settings?: Readonly<Record<string, string>>
  /**
   * An empty database, or that of another shop: then they are two processes of one shop. It is migrated. Without one,
   * an embedded PostgreSQL lives as long as the shop.
   */
  databaseUrl?: string
  /**
   * Skips the migrations and the creation of partitions, because the database has them all. Saves two connections and 30 ms of
   * CPU (2026-11).
   */
  isMigrated?: boolean
  /**
   * Whether scheduled jobs run at the start, as in a new shop. Default: true. Otherwise each first runs after its interval,
   * which saves 70 ms of CPU (2026-11).
   */
  runsSchedulesAtStart?: boolean
}
/**
 * A shop for tests: real modules on a real database, behind the real gateway.
 * @example
 * const countOrders = (shop: TestShop) => shop.sql('select count(*)::int as total from orders.orders')
 */
export type TestShop<Apis = Record<string, object>> = ShopWithGateway & {
  platform: Platform
  db: Database
  databaseUrl: string
  /** The fake APIs of modules. */
  instead: Apis
  /** Runs `work` and records the SQL statements that it sends, in order. */
  record: RecordStatements
  /** The lines of the log. */
  log: string[]
  /** Sends a request without a socket. Bodies that are not strings or buffers are sent as JSON. */
  request(method: string, url: string, options?: RequestOptions): Promise<TestResponse>
  /** Requests of one caller; without a token when `caller` is null. */
  as(caller: { token: string } | null): TestShopVerbs
  /** Listens, and returns the address. */
  listen(): Promise<string>
  /** Emits an event of any module, in a transaction of its own. Its subscribers handle it soon after. */
  emit<P extends TSchema, V extends boolean>(
    type: EventType<string, P, V>,
    subject: EventSubject<V>,
    payload: Static<P>
  ): Promise<void>
  /** Runs any SQL on a separate connection. */
  sql(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

const SETTINGS = {
  CARTWRIGHT__SECRETS__KEYS: JSON.stringify([
    { id: 'test', key: Buffer.alloc(32, 'test').toString('base64') }
  ]),
  CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
  CARTWRIGHT__LOG__LEVEL: 'debug',
  // A machine that runs many tests simultaneously is no reason to refuse a request.
  CARTWRIGHT__DATABASE__POOL_WAIT_MS: '60000',
  CARTWRIGHT__DATABASE__STATEMENT_TIMEOUT_MS: '60000',
  // One connection of a kind is enough, because each takes 8 ms of CPU, and statements of one test seldom overlap.
  CARTWRIGHT__DATABASE__SHARED_CONNECTIONS: '1',
  CARTWRIGHT__DATABASE__WRITE_CONNECTIONS: '1',
  CARTWRIGHT__DATABASE__SLOW_CONNECTIONS: '1'
}

/**
 * Opens a shop for tests. The test must close it. Rate limits are disabled unless the settings enable them.
 * @example
 * const shop = await openTestShop({ databaseUrl, settings: { CARTWRIGHT__SHOP__NAME: 'Corner' } })
 * const { status } = await shop.as(null).get('/api/products')
 * await shop.close()
 * assert.equal(status, 200)
 */
export async function openTestShop<Apis extends Record<string, object> = Record<string, never>>(
  options: TestShopOptions<Apis> = {}
): Promise<TestShop<Apis>> {
  const database = await openDatabase(options.databaseUrl)
  try {
    const shop = await openOn(database.url, options)
    return { ...shop, close: () => shop.close().finally(database.stop) }
  } catch (error) {
    await database.stop()
    throw error
  }
}

async function openDatabase(url: string | undefined): Promise<{ url: string; stop(): Promise<void> }> {
  if (url !== undefined) return { url, stop: async () => {} }
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-test-'))
  // When the tests run as root, the server runs as another user and needs access to the folder.
  await chmod(folder, 0o755)
  const database = await openEmbeddedPostgres({ folder, mode: 'own' })
  return {
    url: database.url,
    stop: async () => {
      await database.stop()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

async function openOn<Apis extends Record<string, object>>(
  databaseUrl: string,
  options: TestShopOptions<Apis>
): Promise<TestShop<Apis>> {
  const recorder = createStatementRecorder()
  // Timers and jobs run in a separate async context, so that their statements are not recorded as those of a test.
  const shop = await recorder.inBackground(() => openWith(databaseUrl, options, recorder.onStatement))
  return { ...shop, record: recorder.record }
}

/** A machine that runs many tests simultaneously is no reason to give up a connection after 3 seconds either. */
function withLongConnectTimeout(databaseUrl: string): string {
  // A URL with several hosts cannot be parsed by `URL`.
  if (/[?&]connect_timeout=/.test(databaseUrl)) return databaseUrl
  return `${databaseUrl}${databaseUrl.includes('?') ? '&' : '?'}connect_timeout=60`
}

async function openWith<Apis extends Record<string, object>>(
  databaseUrl: string,
  options: TestShopOptions<Apis>,
  onStatement: (name: string) => void
): Promise<Omit<TestShop<Apis>, 'record'>> {
  const { modules = standardModules, instead = {} as Apis, settings } = options
  const { isMigrated = false, runsSchedulesAtStart = true } = options
  const hasAuth = modules.some(({ name }) => name === 'auth') || 'auth' in instead
  const all = [...standIns(hasAuth ? instead : { auth: fakeAuth(), ...instead }), ...modules]
  // Without the config.yaml of the folder, because it has settings of modules that this shop does not have.
  const config = loadConfig(all, { ...SETTINGS, ...settings }, {})
  if (!isMigrated) await migrate(databaseUrl, migrationSources(all))
  const log: string[] = []
  const opened = await openPlatform(
    config,
    withLongConnectTimeout(databaseUrl),
    pino({ level: config.log.level, errorKey: 'err' }, into(log)),
    { onStatement }
  )
  const replicaReads = createReplicaReadCheck()
  const platform = closedOnce(replicaReads.watch(opened))
  const intervals = new Map<string, number>()
  const shop = await setUpShopModules(
    { ...platform, outbox: outboxRecordingJobIntervals(intervals, strictOutbox(platform.outbox)) },
    all
  )
    .then(async modules => {
      await modules.assertCanStart()
      return openGatewayForShopModules(modules)
    })
    .catch(async error => {
      await platform.close()
      throw error
    })
  if (!runsSchedulesAtStart) await planRecurringJobs(platform.db, intervals)
  platform.outbox.start()
  // The migrations have created partitions for the next weeks, too.
  if (!isMigrated) platform.partitions.start()
  const direct = new pg.Pool({ connectionString: databaseUrl, max: 2 })
  // `end` resolves before all connections are closed. Dropping the database may then terminate them with an error.
  direct.on('connect', client => client.on('error', () => {}))
  direct.on('error', () => {})
  const request: TestShop['request'] = (method, url, sent = {}) =>
    replicaReads.inDeed(`${method} ${url}`, () => send(shop.app, method, url, sent))
  return {
    ...shop,
    platform,
    db: platform.db,
    databaseUrl,
    instead,
    log,
    request,
    as: caller => verbsOf(request, caller?.token),
    listen: () => shop.app.listen({ host: '127.0.0.1', port: 0 }),
    emit: (type, subject, payload) =>
      platform.db.transaction(async tx => platform.outbox.emit(tx, type, subject, payload)),
    sql: async (text, values = []) => (await direct.query(text, [...values])).rows,
    close: async () => {
      await shop.app.close()
      await platform.outbox.stop()
      await shop.stop()
      await platform.close()
      await direct.end()
      replicaReads.assertNone()
    }
  }
}

/** A fake API that reads the ports of the module that it replaces. */
type WithPorts = { setPorts(ports: PortReader): void }

/** Creates stand-in modules that have only a fake API and declare the events of the module that they replace. */
const standIns = (apis: Readonly<Record<string, object>>): Module[] =>
  Object.entries(apis).map(([name, api]) =>
    defineModule({
      name,
      description: `Stands for ${name}.`,
      basePaths: [],
      requires: {},
      uses: {},
      emits: listDeclaredEvents().filter(event => event.name.startsWith(`${name}.`)),
      ports: listDeclaredPorts().filter(port => port.name.startsWith(`${name}.`)),
      setup: async ({ house, ports }) => {
        if ('setHouse' in api) (api as FakeAuth).setHouse(house)
        if ('setPorts' in api) (api as WithPorts).setPorts(ports)
        return { api }
      }
    })
  )

/** Makes `close` idempotent, because a test may close the platform before it closes the shop. */
function closedOnce(platform: Platform): Platform {
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= platform.close()
    return closing
  }
  return { ...platform, close }
}

const into = (log: string[]) =>
  new Writable({
    write: (chunk, _encoding, done) => {
      log.push(String(chunk))
      done()
    }
  })
