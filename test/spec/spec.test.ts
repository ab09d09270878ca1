import { METHODS } from 'node:http'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { authModule, standardModules } from '../../src/app.ts'
import { createTestApp, type TestApp, type TestResponse } from '../support/app.ts'
import { useTestDatabaseUrl } from '../support/database.ts'
import { shareShops } from '../support/shared-shops.ts'
import { adminPatterns, diagnosticRows, publicRows, type Row, securedRows, urlOf } from './routes.ts'

const password = 'nine lives and a piano'
let app: TestApp
let customer: string
let admin: string
beforeAll(async () => {
  app = await createTestApp()
  customer = await tokenOf('customer')
  admin = await tokenOf('admin')
})
afterAll(() => app.close())

async function tokenOf(role: 'customer' | 'admin'): Promise<string> {
  const email = `${role}@example.com`
  await app.apiOf(authModule)?.createUser({ email, password, role })
  return (await app.request('POST', '/api/auth/login', { body: { email, password } })).json.access_token
}

const named = (rows: readonly Row[]) => rows.map(row => ({ ...row, name: `${row.method} ${row.path}` }))
const ask = ({ method, path, body }: Pick<Row, 'method' | 'path' | 'body'>, token?: string) =>
  app.request(method, urlOf(path), { ...(body && { body }), ...(token && { token }) })

/** That a route was there and did its work, whatever it thought of the request. */
function expectReached(answer: TestResponse): void {
  expect(answer.json?.code).not.toBe('ROUTE_NOT_FOUND')
  expect([403, 405, 500, 503]).not.toContain(answer.status)
}

test.each(named(publicRows))(
  'the public route $name of the specification needs no token, and ignores an invalid one',
  async row => {
    for (const token of [undefined, 'not.a.token']) {
      const answer = await ask(row, token)
      expectReached(answer)
      expect(answer.json.code).not.toBe('AUTHENTICATION_REQUIRED')
    }
  }
)

test.each(named(securedRows))(
  'the secured route $name of the specification needs a token, and no role',
  async row => {
    const anonymous = await ask(row)
    expect(anonymous.status).toBe(401)
    expect(anonymous.headers['www-authenticate']).toBe('Bearer')
    expect((await ask(row, 'not.a.token')).status).toBe(401)
    for (const token of [customer, admin]) {
      const answer = await ask(row, token)
      expectReached(answer)
      expect(answer.status).not.toBe(401)
    }
  }
)

test.each(diagnosticRows)(
  'the diagnostics route $path of the specification returns 200 to every caller',
  async row => {
    expect((await ask(row)).status).toBe(200)
    expect((await ask(row, 'not.a.token')).status).toBe(200)
  }
)

test.each(adminPatterns)(
  'administrator routes of the specification, $scope below $below, need a token and the role',
  async ({ below, scope }) => {
    const { paths } = (await app.request('GET', '/openapi.json')).json
    const operations = Object.entries<Record<string, unknown>>(paths)
      .filter(([path]) => path.startsWith(`${below}/`))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map(method => ({ method: method.toUpperCase(), path }))
      )
      .filter(({ method }) => scope === 'all' || !['GET', 'HEAD'].includes(method))
    expect(operations.length).toBeGreaterThan(0)
    for (const operation of operations) {
      const what = `${operation.method} ${operation.path}`
      expect((await ask(operation)).status, what).toBe(401)
      expect((await ask(operation, 'not.a.token')).status, what).toBe(401)
      expect((await ask(operation, customer)).json, what).toMatchObject({
        status: 403,
        code: 'ADMIN_REQUIRED'
      })
      expect([401, 403], what).not.toContain((await ask(operation, admin)).status)
    }
  }
)

/** The module, and all that cannot run without it. */
function withDependents(name: string): string[] {
  const direct = standardModules.filter(module =>
    Object.values(module.requires).some(required => required.name === name)
  )
  return [name, ...direct.flatMap(module => withDependents(module.name))]
}

describe('without a module', () => {
  shareShops()

  /** An application that is closed after one test, because each disables other modules. */
  async function useAppWithout(disabled: readonly string[]): Promise<TestApp> {
    const settings = disabled.map(each => [`CARTWRIGHT__MODULES__${each.toUpperCase()}__ENABLED`, 'false'])
    const without = await createTestApp(Object.fromEntries(settings), await useTestDatabaseUrl())
    onTestFinished(without.close)
    return without
  }

  test.each(standardModules.map(({ name }) => name))(
    'without the module %s, every method at and below its base paths returns 503, and all other routes work',
    async name => {
      const disabled = [...new Set(withDependents(name))]
      const without = await useAppWithout(disabled)
      const off = standardModules.filter(module => disabled.includes(module.name))
      for (const { module, path } of off.flatMap(module =>
        module.basePaths.map(path => ({ module, path }))
      )) {
        const error = `module ${module.name} is disabled; enable it in the configuration file under modules.${module.name}.enabled: true`
        for (const method of METHODS) {
          for (const url of [path, `${path}/`, `${path}/a/b?c=d`]) {
            const answer = await without.request(method, url)
            expect(answer.status, `${method} ${url}`).toBe(503)
            expect(answer.text, `${method} ${url}`).toBe(method === 'HEAD' ? '' : JSON.stringify({ error }))
          }
        }
      }
      for (const row of [...named(publicRows), ...named(securedRows), ...named(diagnosticRows)]) {
        const { json } = await without.request(
          row.method,
          urlOf(row.path),
          row.body ? { body: row.body } : {}
        )
        if (disabled.includes(row.module)) expect(Object.keys(json), row.name).toEqual(['error'])
        else expect(json?.error, row.name).toBeUndefined()
      }
    }
  )

  test('with categories disabled, their paths return 503, and the rest of the catalog works', async () => {
    const without = await useAppWithout(['categories'])
    const error =
      'module categories is disabled; enable it in the configuration file under modules.categories.enabled: true'
    for (const method of METHODS) {
      for (const url of ['/api/categories', '/api/categories/a/b?c=d', '/api/catalog/categories/']) {
        const answer = await without.request(method, url)
        expect(answer.status, `${method} ${url}`).toBe(503)
        expect(answer.text, `${method} ${url}`).toBe(method === 'HEAD' ? '' : JSON.stringify({ error }))
      }
    }
    for (const row of named([...publicRows, ...securedRows])) {
      if (row.path.startsWith('/api/categories')) continue
      const { json } = await without.request(row.method, urlOf(row.path), row.body ? { body: row.body } : {})
      expect(json?.error, row.name).toBeUndefined()
    }
    expect((await without.request('GET', '/api/products')).status).toBe(200)
  })
})

test("the test reads every row of the specification's tables", () => {
  const counts = [publicRows, securedRows, diagnosticRows, adminPatterns].map(({ length }) => length)
  expect(counts).toEqual([13, 19, 4, 3])
})

test('the base path of every route in the specification is claimed by its module', () => {
  for (const row of [...named(publicRows), ...named(securedRows)]) {
    const basePaths = standardModules.find(module => module.name === row.module)?.basePaths ?? []
    expect(
      basePaths.some(base => row.path === base || row.path.startsWith(`${base}/`)),
      row.name
    ).toBe(true)
  }
})
