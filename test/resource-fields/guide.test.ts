import { expect, test } from 'vitest'
import type { Module } from '../../src/module.ts'
import { catalogModule } from '../../src/modules/catalog/index.ts'
import { admin } from '../../src/testing.ts'
import { guideExample, runExample } from '../module-commands/examples.ts'
import { createProduct } from '../support/catalog.ts'
import { useShop } from '../support/use-shop.ts'

// `test/module-commands/examples.test.ts` compiles it.
test('the field of the module of the guide is written and read', async () => {
  const { code, ...rest } = guideExample('Fields on resources of other modules')
  const example = { ...rest, code: `${code}\nhandOver(shelvesModule)` }
  const modules: Module[] = [catalogModule]
  await runExample(example, { handOver: (module: Module) => modules.push(module) })
  const shop = await useShop({ modules })
  const { id } = await createProduct(shop, { shelf: 'A7' })
  const { json } = await shop.as(admin()).get(`/api/catalog/products/${id}`)
  expect(json.shelf).toBe('A7')
})
