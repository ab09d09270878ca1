import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createShop, standardModules } from 'cartwright'
import { wishlistModule } from './wishlist/index.ts'

const data = join(tmpdir(), `wishlist-${process.pid}`)

/** A shop with a database of its own and the products of the demo, on any free port. */
const shopWith = (enabled: boolean) =>
  createShop({
    modules: [...standardModules, wishlistModule],
    config: {
      data,
      server: { port: 0 },
      log: { level: 'silent' },
      modules: { wishlist: { enabled } },
      wishlist: { wishes_max: 2 }
    },
    environment: {}
  })

test('wishes stay, one of a kind, as many as are allowed; switched off, the module says so', async t => {
  t.after(() => rm(data, { recursive: true, force: true }))
  const first = await shopWith(true).start()
  const { items: products } = await json(await fetch(`${first.address}/api/products?limit=3`))
  const variantOf = async ({ id }: { id: string }) =>
    (await json(await fetch(`${first.address}/api/products/${id}`))).variants[0].id
  const [mug, bowl, tray] = await Promise.all(products.map(variantOf))
  const account = { email: 'ada@example.com', password: 'a long engine poem' }
  const { access_token } = await json(await post(`${first.address}/api/auth/register`, account))
  const authorization = `Bearer ${access_token}`

  const wish = (variant_id: string) =>
    post(`${first.address}/api/wishlist`, { variant_id }, { authorization })
  const made = await wish(mug)
  assert.equal(made.status, 201)
  assert.equal((await json(made)).variant_id, mug)
  assert.equal((await json(await wish(mug))).code, 'WISHLIST_WISH_TAKEN')
  assert.equal((await wish(bowl)).status, 201)
  assert.equal((await json(await wish(tray))).code, 'WISHLIST_FULL')
  await first.stop()

  const disabled = await shopWith(false).start()
  assert.equal((await fetch(`${disabled.address}/api/wishlist`)).status, 503)
  await disabled.stop()

  const again = await shopWith(true).start()
  const wishes = async () =>
    json(await fetch(`${again.address}/api/wishlist?count=true`, { headers: { authorization } }))
  const { items, total } = await wishes()
  assert.equal(total, 2)
  assert.equal(items[0].variant_id, bowl)
  assert.ok(items[0].price > 0)
  const gone = { method: 'DELETE', headers: { authorization } }
  assert.equal((await fetch(`${again.address}/api/wishlist/${items[0].id}`, gone)).status, 204)
  assert.equal((await wishes()).total, 1)

  const told = await fetch(`${again.address}/api/auth/me/export`, { headers: { authorization } })
  assert.equal((await json(told)).parts.wishlist.wishes[0].variant_id, mug)
  const { password } = account
  const left = await post(`${again.address}/api/auth/me/delete`, { password }, { authorization })
  assert.equal(left.status, 204)
  await again.stop()
})

const post = (url: string, body: object, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body)
  })

// biome-ignore lint/suspicious/noExplicitAny: what the body is to be is what the test asserts
const json = async (answer: Response): Promise<any> => answer.json()
