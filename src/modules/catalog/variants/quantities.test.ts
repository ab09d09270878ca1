import { expect, test } from 'vitest'
import { type CatalogApp, createProduct, oneOfEach, useCatalog } from '../../../../test/support/catalog.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'

shareShops()

const send = (app: CatalogApp, method: string, path: string, body?: unknown) =>
  app.request(method, `/api/catalog/${path}`, { token: 'admin', ...(body !== undefined && { body }) })
const usual = {
  quantity_min: 1,
  quantity_max: null,
  quantity_step: 1,
  requires_shipping: true,
  tax_category: null
}
const rules = ({
  quantity_min,
  quantity_max,
  quantity_step,
  requires_shipping,
  tax_category
}: typeof usual) => ({
  quantity_min,
  quantity_max,
  quantity_step,
  requires_shipping,
  tax_category
})

test('a new variant has no quantity limits, requires shipping and has no tax category', async () => {
  const app = await useCatalog()
  const { id, variants } = await createProduct(app)
  expect(rules(variants[0])).toEqual(usual)
  const [before] = await app.catalog.offers(oneOfEach([variants[0].id]), null)
  expect(before?.rule).toEqual({ min: 1, max: null, step: 1 })

  const patch = {
    quantity_step: 6,
    quantity_min: 12,
    quantity_max: 600,
    requires_shipping: false,
    tax_category: 'food'
  }
  const { status, json } = await send(app, 'PATCH', `variants/${variants[0].id}`, patch)
  expect([status, rules(json), json.version]).toEqual([200, patch, 2])
  expect(rules((await send(app, 'GET', `products/${id}`)).json.variants[0])).toEqual(patch)
  const [after] = await app.catalog.offers(oneOfEach([variants[0].id]), null)
  expect(after?.rule).toEqual({ min: 12, max: 600, step: 6 })

  const page = await app.request('GET', `/api/products/${id}`)
  expect(page.json.variants[0]).toMatchObject({ quantity_min: 12, quantity_max: 600, quantity_step: 6 })
})

test('the minimum quantity of a variant defaults to its quantity step', async () => {
  const app = await useCatalog()
  const { variants } = await createProduct(app, { variants: [{ sku: 'EGGS', price: 100, quantity_step: 6 }] })
  expect(variants[0]).toMatchObject({ quantity_min: 6, quantity_max: null, quantity_step: 6 })
})

test('contradictory quantity limits of a variant are rejected with the path of the field', async () => {
  const app = await useCatalog()
  const { id, variants } = await createProduct(app)
  const one = { sku: 'A', price: 100 }
  for (const [fields, field] of [
    [{ quantity_min: 4, quantity_step: 3 }, 'quantity_min'],
    [{ quantity_min: 3, quantity_step: 3, quantity_max: 10 }, 'quantity_max'],
    [{ quantity_min: 3, quantity_max: 2 }, 'quantity_max'],
    [{ quantity_step: 0 }, 'quantity_step'],
    [{ quantity_max: 1_000_001 }, 'quantity_max'],
    [{ tax_category: 'Food & drink' }, 'tax_category']
  ] as const)
    for (const [method, path, body, at] of [
      ['POST', 'products', { name: 'Jam', variants: [{ ...one, ...fields }] }, 'body/variants/0'],
      ['POST', `products/${id}/variants`, { ...one, ...fields }, 'body'],
      ['PATCH', `variants/${variants[0].id}`, fields, 'body']
    ] as const) {
      const { status, json } = await send(app, method, path, body)
      expect([fields, path, status, json.errors?.[0]?.path]).toEqual([fields, path, 400, `${at}/${field}`])
    }
  expect((await send(app, 'GET', `products/${id}`)).json.version).toBe(1)
})
