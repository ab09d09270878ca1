import { expect, onTestFinished, test } from 'vitest'
import { createTestApp } from './support/app.ts'
import { runExamples } from './support/page-examples.ts'

const SECRET = 'the-secret-of-the-page-that-explains'
const ADMIN = { email: 'boss@example.com', password: 'nine lives and a piano' }

test('the examples of docs/storefront.md run in their order', async () => {
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

  const said = await runExamples('storefront.md', {
    origin,
    tells: ['items', 'next_cursor', 'cart', 'merge', 'mine', 'tree'],
    env: { SHOP_SECRET: SECRET }
  })
  expect(said).toMatchObject({
    items: [{ name: 'Mug', price: 1_800 }],
    next_cursor: null,
    cart: { count: 3, total: 5_400 },
    merge: { status: 'merged' },
    mine: { count: 4 },
    tree: { items: [] }
  })
})
