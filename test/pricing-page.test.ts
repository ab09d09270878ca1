import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { catalogModule } from '../src/modules/catalog/index.ts'
import { type PricingApi, pricingModule } from '../src/modules/pricing/index.ts'
import { useShop } from './support/use-shop.ts'

const PAGE = new URL('../docs/pricing.md', import.meta.url)

test('the examples of docs/pricing.md run, one after the other', async () => {
  const shop = await useShop({ modules: [pricingModule, catalogModule] })
  const product = { name: 'Mug', status: 'active', variants: [{ sku: 'MUG', price: 1_800 }] }
  expect((await shop.as({ token: 'admin' }).post('/api/catalog/products', product)).status).toBe(201)
  const origin = await shop.listen()
  const page = await readFile(PAGE, 'utf8')
  const examples = [...page.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = '']) => code)
  const program = examples.join('\n').replace('http://127.0.0.1:8080', origin)
  const told =
    'console.log(JSON.stringify({ changed, markets, variantId, members, promotion, batch, total, stopped, price, findings, books, imported, uploaded }))'
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-page-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'examples.mjs')
  await writeFile(file, `${program}\n${told}\n`)

  const { stdout } = await promisify(execFile)(process.execPath, [file], { env: { ADMIN_TOKEN: 'admin' } })
  const said = JSON.parse(stdout)
  expect(said).toMatchObject({
    changed: { countries: ['DE', 'AT', 'LU'], version: 2 },
    markets: [{ code: 'de', currency: 'EUR' }, { code: 'default' }],
    promotion: { ends_at: '2026-12-25T00:00:00.000Z', uses_left: 500 },
    batch: { count: 100 },
    total: 100,
    stopped: { code: 'HELLO-2026', active: false },
    price: 1_990,
    findings: [{ code: 'CODE_UNKNOWN' }, { code: 'CODE_UNKNOWN' }],
    books: { code: 'books' },
    imported: { rows: 1 },
    uploaded: { rows: 1 }
  })
  const { markets, prices, rules } = shop.apiOf(pricingModule) as PricingApi
  const germany = await markets.resolve({ country: 'LU' })
  const wanted = [1, 10, 100].map(quantity => ({ variantId: said.variantId, quantity }))
  const pricesIn = (priceListId: string | null) => prices(wanted, { priceListId })
  expect(await pricesIn(germany.priceListId)).toEqual([1_990, 1_790, 1_550])
  const { taxZones } = await rules({ codes: [], customer: null })
  expect(taxZones.get('DE')).toMatchObject([{ rates: [{ ppm: 190_000 }, { ppm: 70_000 }] }])
  expect(await pricesIn(said.members.id)).toEqual([1_791, 1_611, 1_395])
})
