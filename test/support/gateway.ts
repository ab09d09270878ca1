import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { Writable } from 'node:stream'
import pg from 'pg'
import pino from 'pino'
import { loadConfig } from '../../src/config.ts'
import { authenticationRequiredError, type VerifyBearerToken } from '../../src/gateway/callers/identity.ts'
import type { Tiers } from '../../src/gateway/routing/tiers.ts'
import { createGateway, type Gateway, type GatewayModule } from '../../src/gateway/server.ts'
import { openPlatform, type Platform } from '../../src/platform/platform.ts'
import { type RequestOptions, send, type TestResponse } from './app.ts'
import { createTestDatabase, useTestDatabaseUrl } from './database.ts'
import { SECRET_SETTINGS } from './secrets.ts'
import { type OnFinished, openShared } from './shared-shops.ts'

export type TestGateway = Gateway & {
  platform: Platform
  /** Every log line written so far. */
  log: Record<string, unknown>[]
  /** Sends a request without a socket. Tokens are `customer-<id>` and `admin-<id>`. */
  request(method: string, url: string, options?: RequestOptions): Promise<TestResponse>
  /** Listens, and answers the port. */
  listen(): Promise<number>
  /** Runs any SQL, behind the back of the gateway. */
  sql(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}
export type TestGatewayOptions = {
  modules?: readonly GatewayModule[]
  /** Environment variables of the configuration. */
  settings?: Record<string, string>
  authenticate?: VerifyBearerToken
  /** Replaces parts of the platform. */
  platform?: Partial<Platform>
}

const TOKEN = /^(customer|admin)-([\w-]+)$/
const authenticateByName: VerifyBearerToken = async token => {
  const [, role, userId] = TOKEN.exec(token) ?? []
  if (userId === undefined) throw authenticationRequiredError()
  const expiresAt = Date.now() / 1_000 + 600
  return { userId, role: role === 'admin' ? 'admin' : 'customer', scopes: null, sessionId: null, expiresAt }
}

/**
 * The real gateway on a real platform, for one test, with the modules that the test makes up. Gateways of a file that calls
 * `shareShops` share one database.
 */
export async function useGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const databaseUrl = await useTestDatabaseUrl()
  return openShared(undefined, onFinished => openOn(databaseUrl, options, onFinished))
}

/** The same for all tests of a file that calls `shareShops`, if they pass the same options, with the same functions. */
export async function useSharedGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const databaseUrl = await useTestDatabaseUrl()
  return openShared(['gateway', options], onFinished => openOn(databaseUrl, options, onFinished))
}

async function openOn(databaseUrl: string, options: TestGatewayOptions, onFinished: OnFinished) {
  const gateway = await openGateway(options, databaseUrl)
  onFinished(gateway.close)
  return gateway
}

/** The same for many tests; it has to be closed. */
export async function openGateway(
  options: TestGatewayOptions = {},
  databaseUrl?: string
): Promise<TestGateway> {
  const created =
    databaseUrl === undefined ? await createTestDatabase() : { url: databaseUrl, drop: async () => {} }
  const config = loadConfig([], {
    ...SECRET_SETTINGS,
    CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
    CARTWRIGHT__SERVER__DEVELOPMENT_HOSTS: '["x", "y"]',
    CARTWRIGHT__DATABASE__POOL_WAIT_MS: '5000',
    ...options.settings
  })
  const log: Record<string, unknown>[] = []
  const opened = await openPlatform(config, created.url, pino({ level: 'info', errorKey: 'err' }, into(log)))
  const direct = new pg.Pool({ connectionString: created.url, max: 2 })
  // It says that it has ended before its connections have; dropping the database may then end them first.
  direct.on('connect', client => client.on('error', () => {}))
  direct.on('error', () => {})
  const closePlatform = async () => {
    await opened.close()
    await direct.end()
    await created.drop()
  }
  const platform = { ...opened, ...options.platform }
  const gateway = await createGateway({
    platform,
    modules: options.modules ?? [],
    authenticate: options.authenticate ?? authenticateByName,
    version: '0.0.0'
  }).catch(async error => {
    await closePlatform()
    throw error
  })
  return {
    ...gateway,
    platform,
    log,
    request: (method, url, sent = {}) => send(gateway.app, method, url, sent),
    listen: async () => {
      await gateway.app.listen({ port: 0, host: '127.0.0.1' })
      return (gateway.app.server.address() as AddressInfo).port
    },
    sql: async (text, values = []) => (await direct.query(text, [...values])).rows,
    close: async () => {
      await gateway.app.close()
      await closePlatform()
    }
  }
}

const into = (log: Record<string, unknown>[]) =>
  new Writable({
    write: (chunk, _encoding, done) => {
      log.push(JSON.parse(String(chunk)))
      done()
    }
  })

/** What a route says of itself that is nothing special. */
export const browse = { config: { class: 'browse' } } as const

/** A module with nothing but routes. */
export const moduleOf = (
  name: string,
  basePaths: readonly string[],
  routes?: (tiers: Tiers) => void,
  enabled = true
): GatewayModule => ({ name, basePaths, enabled, routes })

/** Writes bytes to a socket and reads what comes back until the server hangs up. */
export async function sendRaw(port: number, text: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  // A server that hangs up on a client that is still writing resets the connection after the response.
  socket.on('error', () => {})
  socket.write(text)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString()
}

/** A raw answer in its parts. */
export function parseRaw(text: string) {
  const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s)
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)])
  )
  return { status: Number(statusLine.split(' ')[1]), headers, body }
}
