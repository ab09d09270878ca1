import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { catalogModule } from '../../src/modules/catalog/index.ts'
import { ordersModule } from '../../src/modules/orders/index.ts'
import { admin } from '../../src/testing.ts'
import { STOCKHOLM } from '../support/checkouts.ts'
import { useOrders } from '../support/orders.ts'
import {
  compileExamples,
  type Example,
  guideExample,
  membersOf,
  moduleExamples,
  readExamples,
  runExample
} from './examples.ts'

const examples = [...moduleExamples(), guideExample()]

/** What the examples use, in a shop of their own. */
async function useGiven() {
  const shop = await useOrders()
  const [row] = await shop.sql('select sku from catalog.variants where id = $1', [shop.mug])
  const { json: category } = await shop.as(admin()).post('/api/catalog/categories', { name: 'Mugs' })
  return {
    assert,
    orders: shop.apiOf(ordersModule),
    catalog: shop.apiOf(catalogModule),
    db: shop.db,
    Readable,
    customerId: newId(),
    variantId: shop.mug,
    categoryId: category.id,
    sku: row?.sku,
    shipping_address: STOCKHOLM,
    job: { id: newId() }
  }
}

const APIS = [
  ['src/modules/catalog/index.ts', 'CatalogApi'],
  ['src/modules/orders/index.ts', 'OrdersApi'],
  ['src/modules/orders/commands/contract.ts', 'CheckoutCommands'],
  ['src/modules/orders/commands/contract.ts', 'OrderCommands']
] as const

/** Members that are groups of functions, which have the examples. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  OrdersApi: ['checkouts', 'orders']
}

test.each(APIS)('each function of the module API in %s has an example: %s', (path, type) => {
  const others = membersOf(path, type).filter(({ hasExample }) => !hasExample)
  expect(others.map(({ name }) => name)).toEqual(GROUPS[type] ?? [])
})

const WRONG: Example = {
  path: 'a contract',
  member: 'begin',
  code: "await orders.checkouts.begin({ kind: 'customer' }, { items: [] }, newWrite())"
}

test('the examples of commands for modules compile, and a wrong one does not', () => {
  const [wrong = [], ...others] = compileExamples([WRONG, ...examples])
  expect(wrong).toEqual([expect.stringContaining("Property 'customerId' is missing")])
  expect(others).toEqual(examples.map(() => []))
})

test.each(examples)('the example of the command $member in $path runs', async example => {
  await runExample(example, await useGiven())
})

test('the example of a command fails when its assertion is wrong', async () => {
  const [wrong] = readExamples(
    'a contract',
    ['/**', ' * Lists orders.', ' * @example', " * const buyer = { kind: 'customer', customerId } as const"]
      .concat([
        ' * const { items } = await orders.orders.list(buyer, {})',
        ' * assert.equal(items.length, 1)'
      ])
      .concat([' */', 'list(): void'])
      .join('\n')
  )
  if (wrong === undefined) throw new Error('no example was read')
  await expect(runExample(wrong, await useGiven())).rejects.toThrow('Expected values to be strictly equal')
})
