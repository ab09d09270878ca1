import { expect, test } from 'vitest'
import { standardModules } from '../app.ts'
import { loadConfigWithoutModuleChecks } from '../config.ts'
import { configSchema } from '../config-schema.ts'
import { certainlyMatchesSchema } from './certain-match.ts'
import { compileSchema } from './compile-schema.ts'

type Schema = { properties?: Record<string, Schema> }

const VALUES = [
  ...[
    undefined,
    null,
    true,
    false,
    '',
    'a',
    '😀',
    'USD',
    'auto',
    'info',
    'development',
    '1',
    'x'.repeat(600)
  ],
  ...[
    -1,
    0,
    1,
    2,
    10,
    300,
    301,
    8080,
    65_535,
    65_536,
    1e6,
    1e6 + 1,
    1e15,
    0.5,
    Number.NaN,
    Number.POSITIVE_INFINITY
  ],
  ...[[], [1], ['a'], ['a', 'a'], {}, { a: 1 }, { enabled: true }, { enabled: 1 }, { enabled: true, a: 1 }]
]

/** A schema and all schemas within it. */
const allIn = (schema: Schema): Schema[] => [schema, ...Object.values(schema.properties ?? {}).flatMap(allIn)]

const others = [
  { type: 'number', minimum: 1, maximum: 10 },
  { type: ['integer', 'null'], maximum: 10 },
  { type: 'string', minLength: 1 },
  { type: 'string', enum: ['a', 'USD'] },
  { type: 'string', maxLength: 1, writeOnly: true },
  { type: 'string', pattern: '^[a-z]{1,5}$' },
  { type: 'array', maxItems: 1 },
  { type: 'object', properties: { enabled: { type: 'boolean' } }, required: ['enabled'] },
  { type: 'object', properties: { enabled: { type: 'boolean' } }, additionalProperties: false },
  { type: 'array', items: { enum: ['a', 1] }, minItems: 1, uniqueItems: true }
]

test('a value that certainlyMatchesSchema accepts is valid for the schema compiler', () => {
  let plain = 0
  for (const schema of [...allIn(configSchema(standardModules) as Schema), ...others]) {
    const errorsOf = compileSchema(schema)
    for (const value of VALUES) {
      if (!certainlyMatchesSchema(schema, value)) continue
      plain += 1
      expect([schema, value, errorsOf(value)]).toEqual([schema, value, []])
    }
  }
  expect(plain).toBeGreaterThan(300)
})

test('certainlyMatchesSchema returns false for a keyword without a rule', () => {
  expect(certainlyMatchesSchema({ type: 'string' }, 'abc')).toBe(true)
  expect(certainlyMatchesSchema({ type: 'string', pattern: '^b' }, 'abc')).toBe(false)
  expect(certainlyMatchesSchema({ type: 'string', toString: 1 }, 'abc')).toBe(false)
})

test('starting with settings of text, numbers and booleans does not load the schema compiler', () => {
  const environment = { NODE_ENV: 'production', PORT: '80', HOST: '::', DATABASE_URL: 'postgres://db/shop' }
  const config = loadConfigWithoutModuleChecks(standardModules, {
    ...environment,
    CARTWRIGHT__MODULES__CART__ENABLED: 'false'
  })
  expect(certainlyMatchesSchema(configSchema(standardModules), config)).toBe(true)
})
