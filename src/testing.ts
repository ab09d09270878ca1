import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import pg from 'pg'
import pino from 'pino'
import { type App, modules as allModules, openGateway, setupShop } from './app.ts'
import { loadConfig } from './config.ts'
import { declaredEvents, type EventType, type JobType } from './kernel/events.ts'
import { compileSchema } from './kernel/validate.ts'
import { defineModule, type Module, migrationSources } from './module.ts'
import { type FakeAuth, fakeAuth } from './modules/auth/fake.ts'
import { openEmbeddedPostgres } from './platform/embedded-postgres/open.ts'
import type { Outbox } from './platform/outbox/outbox.ts'
import { noting, planSchedules } from './platform/outbox/planned-schedules.ts'
import { openPlatform, type Platform } from './platform/platform.ts'
import type { Database } from './platform/postgres/database.ts'
import { migrate } from './platform/postgres/migrate.ts'
import { createRecorder, type RecordStatements } from './platform/postgres/recorder.ts'

export { admin, customer, fakeAuth } from './modules/auth/fake.ts'
export { fakeCatalog } from './modules/catalog/fake.ts'
export { fakeInventory } from './modules/inventory/fake.ts'
export { fakePayments } from './modules/payments/fake.ts'
export { fakePricing } from './modules/pricing/fake.ts'
export { fakeShipping } from './modules/shipping/fake.ts'

export type TestShopOptions<Apis = Record<string, object>> = {
  /** The modules under test, set up as in a shop; by default all that come along. */
  modules?: readonly Module[]
  /** APIs in the place of other modules, by the modules' names. Without the module auth, `fakeAuth` is. */
  instead?: Apis
  /** Environment variables of the configuration. */
  settings?: Readonly<Record<string, string>>
  /**
   * An empty database, or that of another shop: then they are two processes of one shop. It is migrated. Without one,
   * an embedded PostgreSQL lives as long as the shop.
   */
  databaseUrl?: string
  /** The database has the migrations of all these modules: a connection less, which is a tenth of opening the shop. */
  isMigrated?: boolean
  /**
   * Whether jobs with a schedule run at the start, as in a new shop; by default they do. Otherwise each runs when its time
   * has come: that takes 70 ms of CPU less (2026-11).
   */
  runsSchedulesAtStart?: boolean
}
export type RequestOptions = { token?: string; headers?: Record<string, string>; body?: unknown }
export type TestResponse = {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  // The body as JSON; what it is to be is what the test asserts.
  // biome-ignore lint/suspicious/noExplicitAny: a test reads fields of whatever came back
  json: any
}
type Send = (path: string, body?: unknown, headers?: Record<string, string>) => Promise<TestResponse>

/** A shop for tests: real modules on a real database, behind the real gateway. */
export type TestShop<Apis = Record<string, object>> = App & {
  platform: Platform
  db: Database
  databaseUrl: string
  /** The APIs that stand in the place of modules. */
  instead: Apis
  /** Runs `work` and records the statements that are sent meanwhile, in their order. */
  record: RecordStatements
  /** The lines of the log. */
  log: string[]
  /** Sends a request without a socket. Bodies that are not strings or buffers are sent as JSON. */
  request(method: string, url: string, options?: RequestOptions): Promise<TestResponse>
  /** Requests of one caller, or of nobody. */
  as(caller: { token: string } | null): Record<'get' | 'post' | 'put' | 'patch' | 'delete', Send>
  /** Listens, and answers the address. */
  listen(): Promise<string>
  /** Runs any SQL, behind the back of the shop. */
  sql(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

const SETTINGS = {
  CARTWRIGHT__SECRETS__KEYS: JSON.stringify([
    { id: 'test', key: Buffer.alloc(32, 'test').toString('base64') }
  ]),
  CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
  CARTWRIGHT__LOG__LEVEL: 'debug',
  // A machine that runs many tests at once is no reason to refuse a request.
  CARTWRIGHT__DATABASE__POOL_WAIT_MS: '5000',
  // A second one takes 5 ms of CPU, and reads of one test seldom overlap.
  CARTWRIGHT__DATABASE__SHARED_CONNECTIONS: '1'
}

/** Opens one; it has to be closed. Limits on requests are off unless the settings say otherwise. */
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
  // The server runs as another user when the tests run as root; it has to get in.
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
  const recorder = createRecorder()
  // Timers and jobs belong to the call that started them.
  const shop = await recorder.inBackground(() => openWith(databaseUrl, options, recorder.onStatement))
  return { ...shop, record: recorder.record }
}

async function openWith<Apis extends Record<string, object>>(
  databaseUrl: string,
  options: TestShopOptions<Apis>,
  onStatement: (name: string) => void
): Promise<Omit<TestShop<Apis>, 'record'>> {
  const { modules = allModules, instead = {} as Apis, settings } = options
  const { isMigrated = false, runsSchedulesAtStart = true } = options
  const hasAuth = modules.some(({ name }) => name === 'auth') || 'auth' in instead
  const all = [...standIns(hasAuth ? instead : { auth: fakeAuth(), ...instead }), ...modules]
  const config = loadConfig(all, { ...SETTINGS, ...settings })
  if (!isMigrated) await migrate(databaseUrl, migrationSources(all))
  const log: string[] = []
  const platform = closedOnce(
    await openPlatform(config, databaseUrl, pino({ level: config.log.level, errorKey: 'err' }, into(log)), {
      onStatement
    })
  )
  const everySeconds = new Map<string, number>()
  const shop = await setupShop({ ...platform, outbox: noting(everySeconds, strict(platform.outbox)) }, all)
    .then(openGateway)
    .catch(async error => {
      await platform.close()
      throw error
    })
  if (!runsSchedulesAtStart) await planSchedules(platform.db, everySeconds)
  platform.outbox.start()
  const direct = new pg.Pool({ connectionString: databaseUrl, max: 2 })
  // It says that it has ended before its connections have; dropping the database may then end them first.
  direct.on('connect', client => client.on('error', () => {}))
  direct.on('error', () => {})
  const request: TestShop['request'] = (method, url, sent = {}) => send(shop.app, method, url, sent)
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
    sql: async (text, values = []) => (await direct.query(text, [...values])).rows,
    close: async () => {
      await shop.app.close()
      await platform.outbox.stop()
      await shop.stop()
      await platform.close()
      await direct.end()
    }
  }
}

/** Modules that have nothing but an API, and are taken for those that emit what they do. */
const standIns = (apis: Readonly<Record<string, object>>): Module[] =>
  Object.entries(apis).map(([name, api]) =>
    defineModule({
      name,
      description: `Stands for ${name}.`,
      basePaths: [],
      requires: {},
      uses: {},
      emits: declaredEvents().filter(event => event.name.startsWith(`${name}.`)),
      setup: async ({ house }) => {
        if ('inhabit' in api) (api as FakeAuth).inhabit(house)
        return { api }
      }
    })
  )

/** Refuses what is not what its event or job declares: in a shop, TypeScript alone sees to that, at no cost. */
function strict(outbox: Outbox): Outbox {
  const compiled = new WeakMap<object, ReturnType<typeof compileSchema>>()
  const check = ({ name, payload: schema }: EventType | JobType, payload: unknown) => {
    const errorsOf = compiled.get(schema) ?? compileSchema(schema)
    compiled.set(schema, errorsOf)
    const [error] = errorsOf(JSON.parse(JSON.stringify(payload)))
    if (error === undefined) return
    throw new Error(
      `the payload of ${name} is not what it declares: ${error.instancePath} (${error.keyword})`
    )
  }
  return {
    ...outbox,
    emit: (tx, type, subject, payload) => {
      check(type, payload)
      outbox.emit(tx, type, subject, payload)
    },
    enqueue: (tx, type, payload, options) => {
      check(type, payload)
      outbox.enqueue(tx, type, payload, options)
    }
  }
}

/** A test may close it before the shop is closed. */
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

function verbsOf(request: TestShop['request'], token: string | undefined): ReturnType<TestShop['as']> {
  const verb =
    (method: string): Send =>
    (path, body, headers = {}) =>
      request(method, path, {
        headers,
        ...(token !== undefined && { token }),
        ...(body !== undefined && { body })
      })
  return {
    get: verb('GET'),
    post: verb('POST'),
    put: verb('PUT'),
    patch: verb('PATCH'),
    delete: verb('DELETE')
  }
}

/** Sends a request to a server that need not listen. */
export async function send(
  app: App['app'],
  method: string,
  url: string,
  options: RequestOptions
): Promise<TestResponse> {
  const isJson =
    options.body !== undefined && typeof options.body !== 'string' && !Buffer.isBuffer(options.body)
  const response = await app.inject({
    method: method as 'GET',
    url,
    headers: {
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      ...options.headers
    },
    ...(options.body === undefined
      ? {}
      : { payload: isJson ? JSON.stringify(options.body) : (options.body as string) })
  })
  const json =
    String(response.headers['content-type']).includes('json') &&
    response.headers['content-encoding'] === undefined &&
    response.body
      ? JSON.parse(response.body)
      : null
  return {
    status: response.statusCode,
    headers: response.headers as TestResponse['headers'],
    text: response.body,
    json
  }
}
