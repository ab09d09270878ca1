import { describe, expect, test } from 'vitest'
import { type CatalogApp, createProduct, useCatalog } from '../../../../test/support/catalog.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'

const sizes = [{ name: 'Size', values: ['S', 'M'] }]
const variant = (sku: string, attributes: Record<string, string>, fields = {}) => ({
  sku,
  price: 100,
  attributes,
  ...fields
})
const send = (app: CatalogApp, method: string, path: string, body: unknown) =>
  app.request(method, `/api/catalog/${path}`, { token: 'admin', body })
const product = (fields: Record<string, unknown>) => ({ name: 'Shirt', options: sizes, ...fields })

describe('a product with wrong variants', () => {
  shareShops()

  test.each<[string, Record<string, unknown>, string]>([
    [
      'the same options twice',
      product({ variants: [variant('A', { Size: 'S' }), variant('B', { Size: 'S' })] }),
      'body/variants/1/attributes'
    ],
    [
      'the same attributes twice',
      { name: 'Mug', variants: [variant('A', { a: '1', b: '2' }), variant('B', { b: '2', a: '1' })] },
      'body/variants/1/attributes'
    ],
    [
      'a value that the options lack',
      product({ variants: [variant('A', { Size: 'XL' })] }),
      'body/variants/0/attributes/Size'
    ],
    ['no value', product({ variants: [variant('A', { Colour: 'Red' })] }), 'body/variants/0/attributes'],
    [
      'a sale price above the price',
      product({ variants: [variant('A', { Size: 'S' }, { sale_price: 101 })] }),
      'body/variants/0/sale_price'
    ],
    ['no variant, though active', product({ status: 'active' }), 'body/variants'],
    [
      'two options of one name',
      product({ options: [...sizes, ...sizes], variants: [variant('A', { Size: 'S' })] }),
      'body/options/1/name'
    ]
  ])('a product with %s is rejected with the path of the field', async (_what, body, path) => {
    const app = await useCatalog()
    const { status, json } = await send(app, 'POST', 'products', body)
    expect([status, json.code]).toEqual([400, 'CATALOG_VARIANTS_INVALID'])
    expect(json.errors).toEqual([{ path, message: expect.stringMatching(/^must /) }])
    expect((await app.request('GET', '/api/catalog/products', { token: 'admin' })).json.items).toEqual([])
  })
})

test('an update of variants is rejected only if a shopper could no longer select a variant by its options', async () => {
  const app = await useCatalog()
  const { id, variants } = await createProduct(app, {
    options: sizes,
    variants: [variant('A', { Size: 'S' }), variant('B', { Size: 'M' }), variant('C', {}, { active: false })]
  })
  const [a, , c] = variants.map((each: { id: string }) => `variants/${each.id}`)
  const empty = await createProduct(app, { variants: [] })
  expect(empty.status).toBe('draft')
  for (const [method, path, body, field] of [
    ['POST', `products/${id}/variants`, variant('D', { Size: 'M' }), 'body/attributes'],
    ['POST', `products/${id}/variants`, variant('D', { Size: 'L' }), 'body/attributes/Size'],
    ['POST', `products/${id}/variants`, variant('D', {}), 'body/attributes'],
    ['POST', `products/${id}/variants`, variant('D', { Size: 'L' }, { sale_price: 200 }), 'body/sale_price'],
    ['PATCH', a, { attributes: { Size: 'M' } }, 'body/attributes'],
    ['PATCH', a, { sale_price: 101 }, 'body/sale_price'],
    ['PATCH', c, { active: true }, 'body/attributes'],
    ['PATCH', `products/${id}`, { options: [{ name: 'Size', values: ['S'] }] }, 'body/options'],
    ['PATCH', `products/${empty.id}`, { status: 'active' }, 'body/status']
  ] as const) {
    const { status, json } = await send(app, method, path, body)
    expect([method, path, status, json.errors?.[0]?.path]).toEqual([method, path, 400, field])
  }
  expect((await app.request('GET', `/api/catalog/products/${id}`, { token: 'admin' })).json.version).toBe(1)
  for (const [method, path, body] of [
    ['PATCH', a, { sale_price: 100 }],
    ['PATCH', `products/${id}`, { options: [{ name: 'Size', values: ['S', 'M', 'L'] }] }],
    ['PATCH', c, { active: true, attributes: { Size: 'L', Fit: 'Slim' } }],
    ['POST', `products/${id}/variants`, variant('E', { Size: 'S' }, { currency: 'EUR' })],
    ['PATCH', a, { active: false }],
    ['POST', `products/${id}/variants`, variant('F', { Size: 'S' })]
  ] as const) {
    const { status, text } = await send(app, method, path, body)
    expect([text, status < 300]).toEqual([text, true])
  }
})
