import { expect, test } from 'vitest'
import { compareSurfaces, readRenames, readSurface } from '../tools/public-surface.ts'

const GLOSSARY = `
| before | now | where |
|---|---|---|
| \`hears\`, \`overhears(event)\` | \`subscribes\`, \`subscribesTo(event)\` | declaration of a module |
| \`outside: 'each'\`, \`'never'\` | \`webhook: 'all'\`, \`'none'\` | declaration of an event |
| \`cart.carts.customer_id\` | \`cart.carts.cart_id\` | column |
`
const surface = (...names: string[]) => new Map([['names', new Set(names)]])

test('a rename of a public name that the glossary lists is not reported as a difference', () => {
  const before = surface(
    'Module.hears',
    'Module.overhears',
    'EventType.outside.= never',
    'cart.carts.customer_id',
    'orders.orders.customer_id'
  )
  const now = surface(
    'Module.subscribes',
    'Module.subscribesTo',
    'EventType.webhook.= none',
    'cart.carts.cart_id',
    'orders.orders.customer_id'
  )
  expect(compareSurfaces(before, now, readRenames(GLOSSARY))).toEqual([
    { kind: 'names', renamed: 4, gone: [], added: [] }
  ])
})

test('a rename of a public name that the glossary does not list is reported', () => {
  const differences = compareSurfaces(
    surface('Module.jobs', 'kept'),
    surface('Module.tasks', 'kept'),
    readRenames(GLOSSARY)
  )
  expect(differences).toEqual([{ kind: 'names', renamed: 0, gone: ['Module.jobs'], added: ['Module.tasks'] }])
})

test('two equal sets of public names have no difference', () => {
  expect(compareSurfaces(surface('a'), surface('a'), [])).toEqual([])
})

test('the surface test reads each kind of public name', () => {
  const found = readSurface('.')
  expect([...found].map(([kind, names]) => [kind, names.size > 50])).toEqual([
    ['paths', true],
    ['operation ids', true],
    ['parameters', true],
    ['fields and values', true],
    ['events', true],
    ['settings', true],
    ['metrics', true],
    ['exports and members of their types', true]
  ])
  expect(found.get('exports and members of their types')).toContain('index Module.requires')
  expect(found.get('events')).toContain('orders.placed: order_id')
})
