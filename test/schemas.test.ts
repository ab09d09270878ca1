import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { standardModules } from '../src/app.ts'
import { configSchema } from '../src/config-schema.ts'
import { compileSerializer } from '../src/gateway/routing/validation.ts'
import { compileSchema } from '../src/kernel/compile-schema.ts'
import { patternMessage } from '../src/kernel/patterns.ts'
import { createTestApp } from './support/app.ts'
import { resolveReferences } from './support/references.ts'

type Content = Record<string, { schema?: never }>
type Operation = {
  parameters?: { name?: string; schema?: never }[]
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
}

test('every JSON schema of every route is valid and compiles, which the program does at the first request', async () => {
  const schemas = new Ajv({ strict: false })
  const app = await createTestApp()
  const { json } = await app.request('GET', '/openapi.json')
  await app.close()
  const paths = resolveReferences<Record<string, Record<string, Operation>>>(
    json.paths,
    json.components.schemas
  )
  const faults: string[] = []
  let compiled = 0
  const attempt = (where: string, schema: object, compile: () => unknown) => {
    compiled += 1
    if (schemas.validateSchema(schema) !== true) faults.push(`${where}: ${schemas.errorsText()}`)
    try {
      compile()
    } catch (error) {
      faults.push(`${where}: ${error}`)
    }
  }
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { parameters = [], requestBody, responses }] of Object.entries(operations)) {
      const where = `${method} ${path}`
      for (const { name, schema } of parameters) {
        if (schema) attempt(`${where} ${name}`, schema, () => compileSchema(schema)(''))
      }
      for (const { schema } of Object.values(requestBody?.content ?? {})) {
        if (schema) attempt(`${where} body`, schema, () => compileSchema(schema)({}))
      }
      for (const { content = {} } of Object.values(responses)) {
        for (const { schema } of Object.values(content)) {
          if (schema)
            attempt(`${where} answer`, schema, () => compileSerializer({ schema, method, url: path })({}))
        }
      }
    }
  }
  expect(compiled).toBeGreaterThan(100)
  const isOnlyEmpty = (fault: string) => / answer: Error: "\w+" is required!/.test(fault)
  expect(faults.filter(fault => !isOnlyEmpty(fault))).toEqual([])
})

/** Every pattern inside of this, those of the names of members too. */
function patternsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { pattern, patternProperties = {} } = value as { pattern?: unknown; patternProperties?: object }
  const own = [...(typeof pattern === 'string' ? [pattern] : []), ...Object.keys(patternProperties)]
  return [...own, ...Object.values(value).flatMap(patternsIn)]
}

test('every pattern that a request or a setting must match has a message in words', async () => {
  const app = await createTestApp()
  const { json } = await app.request('GET', '/openapi.json')
  await app.close()
  const paths = resolveReferences<Record<string, Record<string, Operation>>>(
    json.paths,
    json.components.schemas
  )
  const requests = Object.values(paths)
    .flatMap(operations => Object.values(operations))
    .map(({ parameters, requestBody }) => ({ parameters, requestBody }))
  const patterns = new Set(patternsIn([requests, configSchema(standardModules)]))
  expect(patterns.size).toBeGreaterThan(5)
  expect([...patterns].filter(pattern => patternMessage(pattern) === undefined)).toEqual([])
})
