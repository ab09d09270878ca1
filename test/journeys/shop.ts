import { spawnSync } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import type { TestResponse } from '../../src/testing.ts'
import { useRedisServer } from '../faults/redis-server.ts'
import { runsEveryCase } from '../lanes/every-case.ts'
import { usePost } from '../support/checkouts.ts'
import { makeDataFolder } from '../support/data-folder.ts'
import { createTestDatabase, useEmptyDatabase } from '../support/database.ts'
import { readExposition } from '../support/exposition.ts'
import { mailSettings, PATIENCE } from '../support/mailing-shop.ts'
import { type Program, startProgram } from '../support/program.ts'
import { CERTIFICATE } from '../support/receiver-certificate.ts'
import { SECRET_SETTINGS } from '../support/secrets.ts'

export const ADMIN = { email: 'boss@shop.example', password: 'nine lives and a piano' }
export const EMAIL = 'ada@example.com'
export const PASSWORD = 'a long engine poem'
export const TRANSFER = { provider: 'manual', method: 'bank_transfer' }

/** The services of a shop: the embedded database, or an operator's PostgreSQL and Redis. */
export type ShopServices = 'embedded' | 'external'
const HAS_REDIS = process.env.REDIS_URL !== undefined || spawnSync('redis-server', ['--version']).status === 0

/**
 * Declares tests twice: for the embedded database, and for PostgreSQL and Redis. Expensive tests have the second only with every
 * case, because the customer's journey has it always.
 */
export function describeOnAllServices(
  declare: (ground: ShopServices) => void,
  { areExpensive = false } = {}
): void {
  describe('on the embedded database', () => declare('embedded'))
  describe.skipIf(!HAS_REDIS || (areExpensive && !runsEveryCase))(
    'on PostgreSQL and Redis, with two processes (REDIS_URL or redis-server)',
    () => declare('external')
  )
}

/**
 * Prepares the real program for one shop, with one process or two. The database is empty, or has the tables of an earlier
 * start.
 */
export async function useProgram(
  ground: ShopServices,
  given: Readonly<Record<string, string>> = {},
  database: 'empty' | 'migrated' = 'empty'
) {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-journey-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  // The server of the database runs as another user when the tests run as root; and needs access.
  await chmod(folder, 0o755)
  const data = join(folder, 'data')
  if (ground === 'embedded' && database === 'migrated') await makeDataFolder(data)
  const trusted = join(folder, 'receivers.pem')
  await writeFile(trusted, CERTIFICATE)
  const settings = {
    ...(ground === 'external' && {
      ...SECRET_SETTINGS,
      DATABASE_URL: await useDatabaseUrl(database),
      REDIS_URL: await redisUrl()
    }),
    CARTWRIGHT_DATA: data,
    CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
    CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password,
    CARTWRIGHT__SHOP__DEMO: 'off',
    CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
    CARTWRIGHT__LOG__LEVEL: 'warn',
    // A busy machine must not cause rejected requests.
    CARTWRIGHT__DATABASE__POOL_WAIT_MS: '5000',
    // Webhooks go to receivers on this machine.
    CARTWRIGHT__HTTP__PRIVATE_HOSTS: '["127.0.0.1"]',
    NODE_EXTRA_CA_CERTS: trusted,
    ...given
  }
  const running: Program[] = []
  const stop = async () => {
    for (const { child } of running) child.kill('SIGTERM')
    const codes = await Promise.all(running.splice(0).map(async ({ ended }) => (await ended).code))
    expect(codes.filter(code => code !== 0)).toEqual([])
  }
  onTestFinished(stop)
  return {
    folder,
    data,
    stop,
    /** Starts all processes and returns their addresses. */
    start: (): Promise<string[]> => {
      for (let of = ground === 'embedded' ? 1 : 2; of > 0; of -= 1) running.push(startProgram(settings))
      return Promise.all(running.map(({ listening }) => listening))
    },
    /** Runs a command and returns its output. */
    command: async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await startProgram(settings, { args }).ended
      expect(code, stderr).toBe(0)
      return stdout
    }
  }
}

async function useDatabaseUrl(database: 'empty' | 'migrated'): Promise<string> {
  if (database === 'empty') return (await useEmptyDatabase()).url
  const { url, drop } = await createTestDatabase()
  onTestFinished(drop)
  return url
}

async function redisUrl(): Promise<string> {
  if (process.env.REDIS_URL !== undefined) return process.env.REDIS_URL
  const server = await useRedisServer()
  await server.start()
  return `redis://127.0.0.1:${server.port}`
}

type SendRequest = (path: string, body?: unknown, headers?: Record<string, string>) => Promise<TestResponse>
export type ApiClient = Record<'get' | 'post' | 'put' | 'patch' | 'delete', SendRequest>

/** An HTTP client of the process at this address. It sends bodies that are not strings as JSON. */
export function createApiClient(origin: string, token?: string): ApiClient {
  const ask =
    (method: string): SendRequest =>
    async (path, body, headers = {}) => {
      const answer = await fetch(new URL(path, origin), {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) })
      })
      const text = await answer.text()
      const isJson = answer.headers.get('content-type')?.includes('json') && text !== ''
      return {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        text,
        json: isJson ? JSON.parse(text) : null
      }
    }
  return { get: ask('GET'), post: ask('POST'), put: ask('PUT'), patch: ask('PATCH'), delete: ask('DELETE') }
}

/** Expects a 2xx response and returns its JSON. */
export async function expectSuccess(answer: Promise<TestResponse>): Promise<TestResponse['json']> {
  const { status, json, text } = await answer
  expect(status, text).toBeGreaterThanOrEqual(200)
  expect(status, text).toBeLessThan(300)
  return json
}

export async function logInAt(origin: string, account: object): Promise<ApiClient> {
  const { access_token } = await expectSuccess(createApiClient(origin).post('/api/auth/login', account))
  return createApiClient(origin, access_token)
}

/** Requests new pages from one process, then from the other, until the other finds a page that the first one cached. */
async function expectSharedPages([first = '', second = '']: string[]): Promise<void> {
  const hits = async () => {
    const { families } = readExposition((await createApiClient(second).get('/metrics')).text)
    return families.get('cartwright_cache_hits_total')?.samples[0]?.value ?? 0
  }
  let limit = 0
  const found = async () => {
    limit += 1
    const page = `/api/products?limit=${limit}`
    const made = await createApiClient(first).get(page)
    const before = await hits()
    expect((await createApiClient(second).get(page)).text).toBe(made.text)
    return (await hits()) - before
  }
  await expect.poll(found, PATIENCE).toBe(1)
}

/**
 * A shop with an administrator and a mail server. With two processes, administrators use one and shoppers the other, so
 * that each change must become visible in the other process.
 */
export async function openShop(ground: ShopServices, given: Readonly<Record<string, string>> = {}) {
  const { mails, settings } = await mailSettings(given)
  const premises = await useProgram(ground, settings, 'migrated')
  const origins = await premises.start()
  const [backOffice = '', storefront = backOffice] = origins
  const anonymous = createApiClient(storefront)
  const admin = await logInAt(backOffice, ADMIN)
  return {
    premises,
    settings,
    origins,
    backOffice,
    storefront,
    anonymous,
    admin,
    mails,
    logIn: (account: object) => logInAt(storefront, account),
    /** The mail with this subject to this address. */
    mail: async (subject: RegExp, to = EMAIL) => {
      const sent = () => mails.taken.filter(({ recipient }) => recipient === to)
      const subjects = () => sent().map(each => each.subject)
      await expect.poll(subjects, PATIENCE).toContainEqual(expect.stringMatching(subject))
      return sent().find(each => subject.test(each.subject ?? ''))
    },
    /** Returns the available quantity that shoppers see. */
    available: async (variantId: string): Promise<number> => {
      const { json } = await anonymous.get(`/api/inventory/availability?variant_ids=${variantId}`)
      return json.items[0].available
    },
    /** Captures the payment of an order. */
    receive: async (orderId: string): Promise<void> => {
      const { total } = await expectSuccess(admin.get(`/api/admin/orders/${orderId}`))
      const { items } = await expectSuccess(admin.get(`/api/admin/payments?order_id=${orderId}`))
      await expectSuccess(admin.post(`/api/admin/payments/${items[0].id}/capture`, { amount: total }))
    }
  }
}
/** A shop that sells a mug with `count` units in stock, and ships it. */
export async function openMugShop(
  ground: ShopServices,
  count: number,
  given?: Readonly<Record<string, string>>
) {
  const shop = await openShop(ground, given)
  const { admin, anonymous, available } = shop
  const made = (path: string, body: object) => expectSuccess(admin.post(path, body))
  await usePost((path, body) => made(`/api/admin/${path}`, body))
  const mug = await made('/api/catalog/products', {
    name: 'Fika mug',
    slug: 'fika-mug',
    status: 'active',
    variants: [{ sku: 'FIKA', price: 1_200 }]
  })
  const variantId: string = mug.variants[0].id
  await expectSuccess(admin.put(`/api/inventory/levels/${variantId}`, { on_hand: count }))
  // The other process sees the changes a moment later.
  const asked = { items: [{ variant_id: variantId, quantity: 1 }], destination: { country: 'SE' } }
  const ways = async () => (await anonymous.post('/api/shipping/rates', asked)).json?.rates?.length
  await expect.poll(ways, PATIENCE).toBe(3)
  await expect.poll(() => available(variantId), PATIENCE).toBe(count)
  if (ground === 'external') await expectSharedPages(shop.origins)
  return { ...shop, mug, variantId }
}
