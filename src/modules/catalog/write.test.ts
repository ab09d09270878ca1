import { expect, test } from 'vitest'
import { type CatalogApp, useCatalog } from '../../../test/support/catalog.ts'
import { unconditional } from '../../platform/write.ts'
import { createCategoryService } from './categories/service.ts'
import { createDiscountService } from './discounts/service.ts'
import { createProductService } from './products/service.ts'
import { createChanges } from './revision/changes.ts'
import { createVariantService } from './variants/service.ts'

const applied = { ...unconditional, alreadyApplied: true }
const takenOver = {
  ...unconditional,
  markApplied: async () => {
    throw new Error('taken over')
  }
}

function servicesOf({ platform: { db, broadcast } }: CatalogApp) {
  const currency = 'USD'
  const deps = { db, changes: createChanges({ db, broadcast, currency }), currency }
  return {
    products: createProductService(deps),
    variants: createVariantService(deps),
    categories: createCategoryService(deps),
    discounts: createDiscountService(deps)
  }
}

test('a request that was applied before, but whose answer was lost, gets the present state and writes nothing', async () => {
  const { products, variants, categories, discounts } = servicesOf(await useCatalog())
  const body = { name: 'Mug', variants: [{ sku: 'A', price: 1 }] }
  const product = await products.create(body, unconditional)
  expect(await products.create(body, applied)).toEqual(product)
  expect(await products.patch(product.id, { name: 'Jug' }, applied)).toEqual(product)
  await products.remove(product.id, applied)

  const added = await variants.create(product.id, { sku: 'B', price: 2 }, unconditional)
  expect(await variants.create(product.id, { sku: 'B', price: 2 }, applied)).toEqual(added)
  expect(await variants.patch(added.variant.id, { price: 3 }, applied)).toEqual(added)
  await variants.remove(added.variant.id, applied)
  expect((await products.read(product.id)).variants).toHaveLength(2)

  const category = await categories.create({ name: 'Home' }, unconditional)
  expect(await categories.create({ name: 'Home' }, applied)).toEqual(category)
  expect(await categories.patch(category.id, { name: 'House' }, applied)).toEqual(category)
  await categories.remove(category.id, applied)

  const off = { name: 'Less', scope: 'product', target_id: product.id, amount: 1 } as const
  const discount = await discounts.create(off, unconditional)
  expect(await discounts.create(off, applied)).toEqual(discount)
  expect(await discounts.patch(discount.id, { amount: 2 }, applied)).toEqual(discount)
  await discounts.remove(discount.id, applied)
  expect((await discounts.list({ count: true })).total).toBe(1)
})

test('a write is noted down in its own transaction: when the request was taken over, nothing is written', async () => {
  const { products, variants, categories, discounts } = servicesOf(await useCatalog())
  const product = await products.create({ name: 'Mug', variants: [{ sku: 'A', price: 1 }] }, unconditional)
  const [variant] = product.variants
  const category = await categories.create({ name: 'Home' }, unconditional)
  const target = { scope: 'product', target_id: product.id, amount: 1 } as const
  const discount = await discounts.create({ name: 'Less', ...target }, unconditional)
  for (const write of [
    () => products.create({ name: 'Jug' }, takenOver),
    () => products.patch(product.id, { name: 'Jug' }, takenOver),
    () => products.remove(product.id, takenOver),
    () => variants.create(product.id, { sku: 'B', price: 2 }, takenOver),
    () => variants.patch(variant?.id ?? '', { price: 3 }, takenOver),
    () => variants.remove(variant?.id ?? '', takenOver),
    () => categories.create({ name: 'Bath' }, takenOver),
    () => categories.patch(category.id, { name: 'Bath' }, takenOver),
    () => categories.remove(category.id, takenOver),
    () => discounts.create({ name: 'More', ...target }, takenOver),
    () => discounts.patch(discount.id, { amount: 2 }, takenOver),
    () => discounts.remove(discount.id, takenOver)
  ])
    await expect(write()).rejects.toThrow('taken over')
  expect(await products.read(product.id)).toEqual(product)
  expect((await products.list({ count: true })).total).toBe(1)
  expect((await discounts.list({})).items).toEqual([discount])
})
