import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import { authenticationRequired } from '../../src/gateway/callers/identity.ts'
import { createGateway } from '../../src/gateway/server.ts'
import { type CatalogApi, catalogModule } from '../../src/modules/catalog/index.ts'
import { openLog } from '../../src/platform/log.ts'
import { openPlatform, type Platform } from '../../src/platform/platform.ts'
import { type RequestOptions, send, type TestResponse } from './app.ts'
import { createTestDatabase } from './database.ts'
import { SECRET_SETTINGS } from './secrets.ts'

export type CatalogApp = {
  catalog: CatalogApi
  platform: Platform
  databaseUrl: string
  /** The names of the statements that were sent since the last call. */
  statementsSince(): string[]
  request(method: string, url: string, options?: RequestOptions): Promise<TestResponse>
}

const settingsForTests = {
  ...SECRET_SETTINGS,
  CARTWRIGHT__LOG__LEVEL: 'silent',
  CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
  CARTWRIGHT__DATABASE__POOL_WAIT_MS: '5000'
}

/**
 * One process with the module catalog behind a gateway, for one test. Tokens are the names of roles, `admin` and
 * `customer`. Several processes share a database when `databaseUrl` is handed on.
 */
export async function useCatalog(
  settings: Record<string, string> = {},
  databaseUrl?: string
): Promise<CatalogApp> {
  const url = databaseUrl ?? (await useDatabase())
  const config = loadConfig([catalogModule], { ...settingsForTests, ...settings })
  const statements: string[] = []
  const platform = await openPlatform(config, url, openLog(config.log), {
    onStatement: name => statements.push(name)
  })
  const instance = await catalogModule.setup(platform, config.catalog, {})
  const userId = randomUUID()
  const { app } = await createGateway({
    platform,
    version: 'test',
    modules: [{ ...catalogModule, enabled: true, routes: instance.routes }],
    authenticate: async token => {
      if (token !== 'admin' && token !== 'customer') throw authenticationRequired()
      return { userId, role: token, sessionId: null, expiresAt: Date.now() / 1_000 + 60 }
    }
  })
  onTestFinished(async () => {
    await app.close()
    await platform.close()
  })
  return {
    catalog: instance.api,
    platform,
    databaseUrl: url,
    statementsSince: () => statements.splice(0),
    request: (method, url, options = {}) => send(app, method, url, options)
  }
}

async function useDatabase(): Promise<string> {
  const created = await createTestDatabase()
  onTestFinished(created.drop)
  return created.url
}

/** Makes a product by the administrator's route and answers it. */
export async function createProduct(app: CatalogApp, fields: Record<string, unknown> = {}) {
  const { variants = [{ sku: randomUUID(), price: 1_000 }], ...others } = fields
  const body = { name: 'Mug', variants: toldApart(variants), slug: randomUUID(), ...others }
  const { status, json, text } = await app.request('POST', '/api/catalog/products', { token: 'admin', body })
  if (status !== 201) throw new Error(text)
  return json
}

/** Several variants need something to choose them by, which most tests do not care about. */
const toldApart = (variants: unknown) => {
  const all = variants as { sku: string }[]
  return all.length < 2 ? all : all.map(each => ({ attributes: { Kind: each.sku }, ...each }))
}

/** Makes a discount by the administrator's route and answers it. */
export async function createDiscount(app: CatalogApp, fields: Record<string, unknown>) {
  const body = { name: 'Less', ...fields }
  const { status, json, text } = await app.request('POST', '/api/catalog/discounts', { token: 'admin', body })
  if (status !== 201) throw new Error(text)
  return json
}

/** Makes a category by the administrator's route and answers it. */
export async function createCategory(app: CatalogApp, name: string, parentId: string | null = null) {
  const body = { name, parent_id: parentId }
  const { status, json, text } = await app.request('POST', '/api/catalog/categories', {
    token: 'admin',
    body
  })
  if (status !== 201) throw new Error(text)
  return json
}
