import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { createTestApp } from './support/app.ts'

const PAGE = new URL('../docs/storefront.md', import.meta.url)
const SECRET = 'the-secret-of-the-page-that-explains'
const ADMIN = { email: 'boss@example.com', password: 'nine lives and a piano' }

test('the examples of docs/storefront.md run, one after the other', async () => {
  const app = await createTestApp({
    CARTWRIGHT__SERVER__TRUSTED_CLIENTS: `[${SECRET}]`,
    CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
    CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password
  })
  onTestFinished(() => app.close())
  const { access_token: token } = (await app.request('POST', '/api/auth/login', { body: ADMIN })).json
  const body = { name: 'Mug', variants: [{ sku: 'MUG', price: 1_800 }] }
  expect((await app.request('POST', '/api/catalog/products', { token, body })).status).toBe(201)
  const origin = await app.app.listen({ port: 0, host: '127.0.0.1' })

  const page = await readFile(PAGE, 'utf8')
  const examples = [...page.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = '']) => code)
  expect(examples.length).toBeGreaterThan(5)
  const program = examples.join('\n').replace('http://127.0.0.1:8080', origin)
  const told = 'console.log(JSON.stringify({ items, next_cursor, cart, merge, mine, tree }))'
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-page-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'examples.mjs')
  await writeFile(file, `${program}\n${told}\n`)

  const { stdout } = await promisify(execFile)(process.execPath, [file], { env: { SHOP_SECRET: SECRET } })
  expect(JSON.parse(stdout)).toMatchObject({
    items: [{ name: 'Mug', price: 1_800 }],
    next_cursor: null,
    cart: { count: 3, total: 5_400 },
    merge: { status: 'merged' },
    mine: { count: 4 },
    tree: { items: [] }
  })
})
