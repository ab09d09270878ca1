import { Writable } from 'node:stream'
import pg from 'pg'
import pino from 'pino'
import { loadConfig } from '../../src/config.ts'
import { type Authenticate, authenticationRequired } from '../../src/gateway/callers/identity.ts'
import { createGateway, type Gateway } from '../../src/gateway/server.ts'
import { cartRoutes } from '../../src/modules/cart/carts/routes.ts'
import {
  type CartService,
  type CartSettings,
  createCartService
} from '../../src/modules/cart/carts/service.ts'
import type { Stock } from '../../src/modules/cart/carts/stock.ts'
import { guestCartRoutes } from '../../src/modules/cart/guest/routes.ts'
import { createGuestCartService, type GuestCartService } from '../../src/modules/cart/guest/service.ts'
import { cartModule } from '../../src/modules/cart/index.ts'
import { mergeRoutes } from '../../src/modules/cart/merge/routes.ts'
import { createMergeService, type MergeService } from '../../src/modules/cart/merge/service.ts'
import { openPlatform, type Platform } from '../../src/platform/platform.ts'
import type { Database } from '../../src/platform/postgres/database.ts'
import { type RequestOptions, send, type TestResponse } from './app.ts'
import { createFakeCatalog, type FakeCatalog } from './fake-catalog.ts'
import { SECRET_SETTINGS } from './secrets.ts'

/** The cart behind the real gateway, on a real database, with a catalog in memory. */
export type CartShop = {
  gateway: Gateway
  db: Database
  platform: Platform
  catalog: FakeCatalog
  cart: CartService
  guests: GuestCartService
  merges: MergeService
  /** Every log line written so far. */
  log: string[]
  /** Sends a request without a socket; the token of a customer is the customer's id. */
  request(method: string, url: string, options?: RequestOptions): Promise<TestResponse>
  /** Runs any SQL, behind the back of the shop. */
  sql(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}
export type CartShopOptions = {
  databaseUrl: string
  settings?: Partial<CartSettings>
  stock?: Stock
  environment?: Record<string, string>
  /** Is told the name of every statement before it runs. */
  onStatement?: (name: string) => void
}

const CUSTOMER = /^[0-9a-f]{8}-[0-9a-f-]{27}$/
const authenticate: Authenticate = async token => {
  if (!CUSTOMER.test(token)) throw authenticationRequired()
  return { userId: token, role: 'customer', sessionId: null, expiresAt: Date.now() / 1_000 + 3_600 }
}

export async function openCartShop(options: CartShopOptions): Promise<CartShop> {
  const config = loadConfig([cartModule], {
    ...SECRET_SETTINGS,
    CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
    CARTWRIGHT__DATABASE__POOL_WAIT_MS: '5000',
    ...options.environment
  })
  const log: string[] = []
  const memory = new Writable({
    write: (chunk, _encoding, done) => {
      log.push(String(chunk))
      done()
    }
  })
  const { onStatement } = options
  const opened = await openPlatform(config, options.databaseUrl, pino({ level: 'debug' }, memory), {
    onStatement
  })
  let closed: Promise<void> | undefined
  const closeOnce = () => {
    closed ??= opened.close()
    return closed
  }
  const { db } = opened
  const platform = { ...opened, close: closeOnce }
  const direct = new pg.Pool({ connectionString: options.databaseUrl, max: 2 })
  direct.on('error', () => {})

  const catalog = createFakeCatalog()
  const { stock } = options
  const settings = {
    lineQuantityMax: 99,
    linesMax: 200,
    idleSeconds: 30 * 86_400,
    currency: 'USD',
    ...options.settings
  }
  const cart = createCartService({ db, catalog, stock, settings })
  const guests = createGuestCartService({
    db,
    cart,
    secrets: platform.secrets,
    idleSeconds: settings.idleSeconds
  })
  const merges = createMergeService({ db, cart, catalog, stock, settings })
  const module = {
    ...cartModule,
    enabled: true,
    routes: (tiers: Parameters<typeof cartRoutes>[0]) => {
      cartRoutes(tiers, cart)
      mergeRoutes(tiers, merges)
      guestCartRoutes(tiers, guests, 1_000_000)
    }
  }
  const gateway = await createGateway({ platform, modules: [module], authenticate, version: '0.0.0' })
  return {
    gateway,
    db,
    platform,
    catalog,
    cart,
    guests,
    merges,
    log,
    request: (method, url, sent = {}) => send(gateway.app, method, url, sent),
    sql: async (text, values = []) => (await direct.query(text, [...values])).rows,
    close: async () => {
      await gateway.app.close()
      await platform.close()
      await direct.end()
    }
  }
}
