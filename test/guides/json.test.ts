import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compileSchema } from '../../src/kernel/compile-schema.ts'
import { createTestApp } from '../support/app.ts'
import { resolveReferences } from '../support/references.ts'

type Content = Record<string, { schema?: object }>
type Operation = { requestBody?: { content: Content }; responses: Record<string, { content?: Content }> }

const DOCS = join(import.meta.dirname, '..', '..', 'docs')
const BLOCK = /```json\n(.*?)```/gs
const ROUTE = /\b(GET|POST|PUT|PATCH|DELETE)\s+(\/api\/[^\s`?]+)/g
/** Of a name that is in the path, and whatever it is called. */
const shapeOf = (path: string) => path.replaceAll(/\{[^}]+\}|:\w+/g, ':')
const AN_ID = '0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d8e'

const guides = (await readdir(DOCS)).filter(name => name.endsWith('.md'))

test('JSON in a guide is an error, or a valid body or response of the route named in the paragraph before it', async () => {
  const app = await createTestApp()
  const { json: document } = await app.request('GET', '/openapi.json')
  await app.close()
  const paths = resolveReferences<Record<string, Record<string, Operation>>>(
    document.paths,
    document.components.schemas
  )
  const operations = Object.entries(paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${shapeOf(path)}`,
      operation
    }))
  )
  const schemasOf = (route: string): object[] =>
    operations
      .filter(({ name }) => name === route)
      .flatMap(({ operation: { requestBody, responses } }) => [
        ...Object.values(requestBody?.content ?? {}),
        ...Object.values(responses).flatMap(({ content }) => Object.values(content ?? {}))
      ])
      .flatMap(({ schema }) => (schema === undefined ? [] : [schema]))

  const wrong: string[] = []
  let checked = 0
  for (const guide of guides) {
    const text = await readFile(join(DOCS, guide), 'utf8')
    for (const block of text.matchAll(BLOCK)) {
      const value = JSON.parse((block[1] ?? '').replaceAll(/"the id of [^"]*"/g, `"${AN_ID}"`))
      if ('code' in value && 'request_id' in value) continue
      const paragraph = text.slice(0, block.index).trimEnd().split('\n\n').at(-1) ?? ''
      const routes = [...paragraph.matchAll(ROUTE)].map(
        ([, method, path = '']) => `${method} ${shapeOf(path)}`
      )
      checked += 1
      if (!routes.flatMap(schemasOf).some(schema => compileSchema(schema)(value).length === 0))
        wrong.push(`${guide}: ${routes.join(', ')}: ${block[1]}`)
    }
  }
  expect(wrong).toEqual([])
  expect(checked).toBeGreaterThan(5)
})
