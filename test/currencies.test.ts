import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { readDemoCatalog } from '../src/demo/catalog.ts'
import { currencyDecimalPlaces } from '../src/kernel/money.ts'
import { shareShops } from './support/shared-shops.ts'
import { useShop } from './support/use-shop.ts'

shareShops()

const ADMIN = { email: 'boss@example.com', password: 'nine lives and a piano' }

async function useCurrency(currency: string) {
  const app = await useShop({
    settings: {
      CARTWRIGHT__SHOP__CURRENCY: currency,
      CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
      CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password
    }
  })
  const { access_token: token } = (await app.request('POST', '/api/auth/login', { body: ADMIN })).json
  const request = async (method: string, path: string, body?: unknown) =>
    (await app.request(method, `/api/${path}`, { token, body })).json
  const importFile = async (body: string) => {
    const headers = { 'content-type': 'text/csv' }
    return (await app.request('POST', '/api/catalog/import', { token, headers, body })).json
  }
  return { request, importFile }
}

// What stands in the file, and what it is in the smallest unit; an amount off, and what 12.5 % leave of the price.
const shops = [
  {
    currency: 'JPY',
    text: '1850',
    was: '1860',
    price: 1_850,
    full: 1_860,
    off: 400,
    share: 1_627,
    wrong: '18.50'
  },
  {
    currency: 'KRW',
    text: '15900.00',
    was: '',
    price: 15_900,
    full: 15_900,
    off: 901,
    share: 13_912,
    wrong: '1.5'
  },
  {
    currency: 'KWD',
    text: '1.234',
    was: '1.3',
    price: 1_234,
    full: 1_300,
    off: 300,
    share: 1_137,
    wrong: '1.2345'
  },
  {
    currency: 'USD',
    text: '18.50',
    was: '18.6',
    price: 1_850,
    full: 1_860,
    off: 400,
    share: 1_627,
    wrong: '18.505'
  }
]

test.each(shops)(
  'in the currency $currency, the text $text is the price $price when imported, sold, discounted and summed',
  async shop => {
    const { request, importFile } = await useCurrency(shop.currency)
    const header = 'Handle,Title,Variant Price,Variant Compare At Price\n'
    const report = await importFile(`${header}mug,Mug,${shop.text},${shop.was}\njug,Jug,${shop.wrong},\n`)
    expect(report).toMatchObject({ products: { created: 1, failed: 1 }, errors: [{ row: 3, handle: 'jug' }] })
    expect(report.errors[0].message).toContain(`an amount in ${shop.currency}`)

    const { id, currency, variants } = await request('GET', 'products/mug')
    expect([currency, variants]).toMatchObject([
      shop.currency,
      [{ price: shop.full, discounted_price: shop.price, currency: shop.currency }]
    ])
    const line = { variant_id: variants[0].id, quantity: 3 }
    await request('POST', 'cart', line)
    const expectCart = async (discount: object, one: number) => {
      const body = { name: 'Off', scope: 'product', target_id: id, ...discount }
      const created = await request('POST', 'catalog/discounts', body)
      // Until the change of the catalog has been announced.
      await expect
        .poll(() => request('GET', 'cart'))
        .toMatchObject({
          currency: shop.currency,
          items: [{ price: shop.full, discounted_price: one, line_total: 3 * one }],
          subtotal: 3 * shop.full,
          discount_total: 3 * (shop.full - one),
          total: 3 * one
        })
      await request('DELETE', `catalog/discounts/${created.id}`)
    }
    await expectCart({ amount: shop.off }, shop.full - shop.off)
    await expectCart({ percentage_ppm: 125_000 }, shop.share)
  }
)

test.each(['JPY', 'KRW', 'CLP', 'KWD', 'USD'])(
  'the whole demo catalog is imported in the currency %s',
  async currency => {
    const { importFile } = await useCurrency(currency)
    const report = await importFile(await readDemoCatalog(currency, 'http://127.0.0.1'))
    expect(report).toMatchObject({ products: { created: 41, failed: 0 }, errors_total: 0 })
  }
)

test('the code in docs/money.md formats every currency with its decimals', async () => {
  const page = await readFile(new URL('../docs/money.md', import.meta.url), 'utf8')
  const [, code = ''] = /```js\n(.*?)```/s.exec(page) ?? []
  const money = new Function(`${code}; return money`)()
  for (const [currency, decimals] of Object.entries(currencyDecimalPlaces)) {
    const shown = money(1_234_567, currency, 'en')
      .match(/[\d,]+(?:\.\d+)?/)[0]
      .replaceAll(',', '')
    expect([currency, shown]).toEqual([currency, (1_234_567 / 10 ** decimals).toFixed(decimals)])
  }
  for (const [, call = '', shown] of code.matchAll(/^(money\(.*\)) \/\/ (.*)$/gm))
    expect(new Function(`${code}; return ${call}`)().replace('\u00a0', ' ')).toBe(shown)
})
