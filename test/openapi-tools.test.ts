import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { createTestApp } from './support/app.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const require = createRequire(import.meta.url)
const LINTER = join(require.resolve('@redocly/cli/package.json'), '../bin/cli.js')
const GENERATOR = join(require.resolve('openapi-typescript/package.json'), '../bin/cli.js')
const TSC = join(require.resolve('@typescript/native/package.json'), '../bin/tsc')

test('a linter finds neither an error nor a warning in openapi.json', async () => {
  // Paths that look alike are told apart by their ids, which the test of the document sees to.
  const skip = '--skip-rule=no-ambiguous-paths'
  const lint = ['lint', 'openapi.json', '--extends=recommended', '--format=json', skip]
  // It must not check for updates or send statistics.
  const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const { stdout } = await run(process.execPath, [LINTER, ...lint], {
    cwd: ROOT,
    env
  }).catch((failure: { stdout: string }) => failure)
  const { problems, totals } = JSON.parse(stdout)
  type Found = { ruleId: string; message: string; location: { pointer?: string }[] }
  expect(
    problems.map(({ ruleId, message, location }: Found) => `${ruleId} ${location[0]?.pointer}: ${message}`)
  ).toEqual([])
  expect(totals).toMatchObject({ errors: 0, warnings: 0, ignored: 0 })
})

const TSCONFIG = {
  compilerOptions: {
    target: 'esnext',
    module: 'nodenext',
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node']
  }
}

test('a shop front with types generated from openapi.json compiles, and can use the shop', {
  timeout: 60_000
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-client-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const page = await readFile(join(ROOT, 'docs/storefront.md'), 'utf8')
  const [, options = ''] = /^npx openapi-typescript \S+ (.*)$/m.exec(page) ?? []
  const [, example = ''] = /^```ts\n(.*?)^```$/ms.exec(page) ?? []
  await cp(join(ROOT, 'test/storefront-client'), folder, { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  const node = (...args: string[]) =>
    run(process.execPath, args, { cwd: folder }).catch(failure => {
      throw new Error(`${failure.message}\n${failure.stdout}`)
    })

  const document = join(ROOT, 'openapi.json')
  await node(GENERATOR, document, ...options.split(' '))
  const types = (await readFile(join(folder, 'api.ts'), 'utf8')).replace(/\/\*\*.*?\*\/|"[^"\n]*"/gs, '')
  const bodies = types.slice(types.indexOf('    schemas: {'), types.indexOf('    responses: {'))
  // What has any members says so: a Problem, payloads of events, what mails are about, the configuration, the parts of an export.
  const named = bodies.replaceAll('[key: string]: unknown', '')
  expect(named.match(/\bunknown\b|\bnever\b|\bany\b/g)).toBeNull()

  const app = await createTestApp({
    CARTWRIGHT_ADMIN_EMAIL: 'boss@example.com',
    CARTWRIGHT_ADMIN_PASSWORD: 'nine lives and a piano'
  })
  onTestFinished(() => app.close())
  const boss = { email: 'boss@example.com', password: 'nine lives and a piano' }
  const { access_token: token } = (await app.request('POST', '/api/auth/login', { body: boss })).json
  for (const [name, price] of [['Cup', 900] as const, ['Mug', 1_800] as const]) {
    const body = { name, variants: [{ sku: name, price }] }
    expect((await app.request('POST', '/api/catalog/products', { token, body })).status).toBe(201)
  }
  const origin = await app.app.listen({ port: 0, host: '127.0.0.1' })

  await writeFile(join(folder, 'example.ts'), example.replace('http://127.0.0.1:8080', origin))
  await node(TSC, '-p', '.')
  expect((await node('example.ts')).stdout).toBe('Cup 900\nMug 1800\n')
  expect(JSON.parse((await node('storefront.ts', origin)).stdout)).toEqual({
    product: { name: 'Mug', price: 1_800, again: 304, nextCursor: expect.any(String) },
    guest: { count: 3, stale: 'CART_VERSION_STALE' },
    merge: 'merged',
    cart: [{ name: 'Mug', quantity: 3, line_total: 5_400 }],
    checkout: {
      begun: ['SHIPPING_DESTINATION_MISSING'],
      codes: ['SHIPPING_NOT_AVAILABLE', 'CODE_UNKNOWN'],
      total: 5_400,
      name: 'Mug'
    },
    refused: { status: 400, code: 'VALIDATION_FAILED', fields: ['body/quantity'] },
    stranger: 401
  })
})
