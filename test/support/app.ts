import { type App, modules, openGateway, setupShop } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import type { Module } from '../../src/module.ts'
import { openLog } from '../../src/platform/log.ts'
import { openPlatform, type Platform } from '../../src/platform/platform.ts'
import { createTestDatabase } from './database.ts'
import { SECRET_SETTINGS } from './secrets.ts'

export type TestApp = App & {
  platform: Platform
  databaseUrl: string
  /** Sends a request without a socket. Bodies that are not strings or buffers are sent as JSON. */
  request(method: string, url: string, options?: RequestOptions): Promise<TestResponse>
  close(): Promise<void>
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

/**
 * The whole application, one process of it, on a database of its own; several share one when `databaseUrl` is handed
 * on. `settings` are environment variables; `all` the modules, switched on and off.
 */
export async function createTestApp(
  settings: Record<string, string> = {},
  databaseUrl?: string,
  all: readonly Module[] = modules
): Promise<TestApp> {
  const created =
    databaseUrl === undefined ? await createTestDatabase() : { url: databaseUrl, drop: async () => {} }
  const config = loadConfig(all, {
    ...SECRET_SETTINGS,
    CARTWRIGHT__LOG__LEVEL: 'silent',
    CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
    CARTWRIGHT__DATABASE__POOL_WAIT_MS: '5000',
    ...settings
  })
  const platform = await openPlatform(config, created.url, openLog(config.log))
  const app = await setupShop(platform, all)
    .then(openGateway)
    .catch(async error => {
      await platform.close()
      await created.drop()
      throw error
    })
  return {
    ...app,
    platform,
    databaseUrl: created.url,
    request: (method, url, options = {}) => send(app.app, method, url, options),
    close: async () => {
      await app.app.close()
      await app.stop()
      await platform.close()
      await created.drop()
    }
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
