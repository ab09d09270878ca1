import { readdir, readFile } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { countryCodes } from '../src/kernel/countries.ts'
import { createTestApp } from './support/app.ts'

const FOLDER = new URL('../demo/shop/', import.meta.url)
const PRODUCTION = { CARTWRIGHT__ENVIRONMENT: 'production' }

async function useShop(settings: Record<string, string> = {}) {
  const app = await createTestApp(settings)
  onTestFinished(app.close)
  return app
}

test('in development the shop front is served, runs only its own scripts, and inserts no data as markup', async () => {
  const { request } = await useShop()
  const files = { '': 'text/html', '/': 'text/html', '/main.js': 'text/javascript', '/shop.css': 'text/css' }
  for (const [name, type] of Object.entries(files)) {
    const { status, headers } = await request('GET', `/shop${name}`)
    expect([status, headers['content-type']], name).toEqual([200, `${type}; charset=utf-8`])
    expect([
      headers['x-frame-options'],
      headers['x-content-type-options'],
      headers['referrer-policy']
    ]).toEqual(['DENY', 'nosniff', 'no-referrer'])
    const policy = String(headers['content-security-policy']).split('; ')
    expect(policy).toEqual(
      expect.arrayContaining([
        ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
        ...["require-trusted-types-for 'script'", "trusted-types 'none'", "base-uri 'none'"],
        ...["form-action 'none'", "frame-ancestors 'none'"]
      ])
    )
  }
  expect((await request('GET', '/shop')).text).not.toMatch(
    /<script(?! type="module" src=)|<style|\son\w+=|style="/
  )
})

test('the page at / links to the shop front, and the JSON for programs contains its path', async () => {
  const { request } = await useShop()
  expect((await request('GET', '/', { headers: { accept: 'text/html' } })).text).toContain('href="/shop"')
  expect((await request('GET', '/')).json.shop_front).toBe('/shop')
})

test('in production no shop front is served, and no page links to one', async () => {
  const { request } = await useShop(PRODUCTION)
  for (const path of ['/shop', '/shop/', '/shop/main.js']) {
    const { status, json } = await request('GET', path)
    expect([status, json.code], path).toEqual([404, 'ROUTE_NOT_FOUND'])
  }
  // The page lists the guides, /guides/shop-front.md among them.
  expect((await request('GET', '/', { headers: { accept: 'text/html' } })).text).not.toContain('"/shop')
  expect((await request('GET', '/')).json.shop_front).toBeUndefined()
})

test('the shop front is served at the paths that links in mails lead to', async () => {
  const { request } = await useShop()
  const paths = ['verify-email', 'orders/0198c2f0-0000-7000-8000-000000000000', 'orders/']
  for (const path of paths)
    expect((await request('GET', `/shop/${path}`)).headers['content-type'], path).toContain('text/html')
})

test('below /shop no file is served that is not part of the shop front', async () => {
  const { request } = await useShop()
  for (const name of [
    'none.js',
    '..%2Fcatalog.csv',
    '%2Fetc%2Fpasswd',
    'catalog.csv',
    'main.js.map',
    'a/b/c'
  ])
    expect((await request('GET', `/shop/${name}`)).status, name).toBe(404)
})

test("every file that the shop front's page and scripts name exists, and every script is used", async () => {
  const named = new Set(['index.html'])
  for (const name of named) {
    const text = await readFile(new URL(name, FOLDER), 'utf8')
    for (const [, file = ''] of text.matchAll(/(?:from '\.\/|"\/shop\/)([a-z]+\.\w+)['"]/g)) named.add(file)
  }
  expect([...named].sort()).toEqual((await readdir(FOLDER)).sort())
})

test('the countries in the shop front are exactly those that an address can have', async () => {
  const text = await readFile(new URL('countries.js', FOLDER), 'utf8')
  const codes = /`([^`]+)`/.exec(text)?.[1]?.trim().split(/\s+/)
  expect(codes).toEqual([...countryCodes].sort())
})
