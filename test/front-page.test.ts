import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { shareShops } from './support/shared-shops.ts'
import { useShop } from './support/use-shop.ts'

shareShops()

const NAME = 'Bed & <b>Breakfast</b>'

async function usePages(settings: Record<string, string> = {}) {
  const app = await useShop({
    settings: {
      CARTWRIGHT__SERVER__DEVELOPMENT_HOSTS: '["shop.test"]',
      CARTWRIGHT__SHOP__NAME: NAME,
      ...settings
    }
  })
  const browse = (method = 'GET') =>
    app.request(method, '/', { headers: { accept: 'text/html,*/*;q=0.8', host: 'shop.test:8080' } })
  return { ...app, browse }
}

test("a browser at / gets a page with the shop's name, requests to paste, and links that work", async () => {
  const { request, browse } = await usePages()
  const { status, headers, text } = await browse()
  expect([status, headers['content-type'], headers.vary]).toEqual([200, 'text/html; charset=utf-8', 'Accept'])
  expect(text).toContain('<h1>Bed &amp; &lt;b&gt;Breakfast&lt;/b&gt;</h1>')
  expect(text).toContain('<html lang="en">')
  expect(text).toContain('http://shop.test:8080/api/products?limit=3')
  const links = [...text.matchAll(/<a href="([^"]+)"/g)].map(match => String(match[1]))
  expect(links).toEqual(expect.arrayContaining(['/docs', '/openapi.json', '/healthz', '/guides/errors.md']))
  for (const link of links) expect((await request('GET', link)).status, link).toBe(200)
})

test('the page at / runs no script and uses only its own style', async () => {
  const { browse } = await usePages()
  const { headers, text } = await browse()
  const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  expect(headers['content-security-policy']).toContain(
    `default-src 'none'; img-src data:; style-src 'sha256-${hash}'`
  )
  expect(text).not.toMatch(/<script|\son\w+=|style="/)
})

test.each(['/', '/docs'])(
  'no other page can embed %s in a frame, and injected markup cannot change its base URL or add plug-ins',
  async path => {
    const { request } = await usePages()
    const { headers } = await request('GET', path, { headers: { accept: 'text/html' } })
    const policy = String(headers['content-security-policy']).split('; ')
    expect(policy).toEqual(expect.arrayContaining(["base-uri 'none'", "frame-ancestors 'none'"]))
    // What is not named falls back to default-src.
    expect(policy.includes("object-src 'none'") || policy.includes("default-src 'none'")).toBe(true)
    expect(headers['x-frame-options']).toBe('DENY')
  }
)

test('programs at / get links as JSON, and HEAD gets no body', async () => {
  const { request, browse } = await usePages()
  const { status, json } = await request('GET', '/')
  expect([status, json]).toEqual([200, expect.objectContaining({ name: NAME, documentation: '/docs' })])
  const head = await browse('HEAD')
  expect([head.status, head.headers['content-type'], head.text]).toEqual([
    200,
    'text/html; charset=utf-8',
    ''
  ])
  expect((await request('POST', '/')).status).toBe(405)
})

test('the requests on the page at / use the configured public address, and cover enabled modules only', async () => {
  const { browse } = await usePages({
    CARTWRIGHT__SERVER__PUBLIC_URL: 'https://api.example.com/',
    CARTWRIGHT__MODULES__AUTH__ENABLED: 'false'
  })
  const { text } = await browse()
  expect(text).toContain('https://api.example.com/api/products')
  expect(text).not.toContain('/api/auth')
})

test('demo pictures can be cached and shown by pages of other origins, and exist only in a demo shop', async () => {
  const shop = await usePages()
  const { status, headers, text } = await shop.request('GET', '/demo/fika-mug-rust.svg')
  expect([
    status,
    headers['content-type'],
    headers['cache-control'],
    headers['cross-origin-resource-policy']
  ]).toEqual([200, 'image/svg+xml', 'public, max-age=86400', 'cross-origin'])
  expect(text).toMatch(/^<svg /)
  expect((await shop.request('GET', '/demo/fika-mug-purple.svg')).json.code).toBe('ROUTE_NOT_FOUND')
  const other = await usePages({ CARTWRIGHT__SHOP__DEMO: 'off' })
  expect((await other.request('GET', '/demo/fika-mug-rust.svg')).status).toBe(404)
})

test('guides are served by their names, and no other file is', async () => {
  const { request } = await usePages()
  expect((await request('GET', '/guides/errors.md')).text).toMatch(/^# Errors/)
  expect((await request('GET', '/guides/reference/routes.md')).text).toMatch(/^# Routes/)
  for (const name of ['package.json', '..%2Fpackage.json', 'README.md', 'decisions', 'reference'])
    expect((await request('GET', `/guides/${name}`)).status, name).toBe(404)
})
