import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { catalogModule } from '../src/modules/catalog/index.ts'
import { shippingModule } from '../src/modules/shipping/index.ts'
import { createProduct } from './support/catalog.ts'
import { useShop } from './support/use-shop.ts'

const PAGE = new URL('../docs/shipping.md', import.meta.url)

test('the examples of docs/shipping.md run, one after the other', async () => {
  const shop = await useShop({ modules: [catalogModule, shippingModule] })
  await createProduct(shop, { status: 'active', variants: [{ sku: 'MUG', price: 1_800, weight_grams: 300 }] })
  const origin = await shop.listen()
  const page = await readFile(PAGE, 'utf8')
  const examples = [...page.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = '']) => code)
  const program = examples.join('\n').replace('http://127.0.0.1:8080', origin)
  const told = 'console.log(JSON.stringify({ rates, abroad }))'
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-page-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'examples.mjs')
  await writeFile(file, `${program}\n${told}\n`)

  const { stdout } = await promisify(execFile)(process.execPath, [file], { env: { ADMIN_TOKEN: 'admin' } })
  const pickup = { method: 'pickup', amount: 0 }
  expect(JSON.parse(stdout)).toMatchObject({
    rates: [pickup, { method: 'shipping', amount: 490, estimated_days: { min: 2, max: 4 } }],
    abroad: { rates: [pickup, { service: 'Standard', amount: 1_990 }] }
  })
})
