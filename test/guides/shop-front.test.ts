import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const read = (path: string) => readFile(join(ROOT, path), 'utf8')
const FILES = await readdir(join(ROOT, 'demo/shop'))
const SCRIPTS = await Promise.all(
  FILES.filter(name => name.endsWith('.js')).map(name => read(`demo/shop/${name}`))
)
const guide = await read('docs/shop-front.md')

/** The names of parameters do not count: `/api/orders/:id` is `/api/orders/{id}`. */
const shapeOf = (path: string) => path.replaceAll(/\{\w+\}|:\w+/g, ':')
const { paths } = JSON.parse(await read('openapi.json')) as { paths: Record<string, object> }
const OPERATIONS = Object.entries(paths).flatMap(([path, byMethod]) =>
  Object.keys(byMethod).map(method => `${method.toUpperCase()} ${shapeOf(path)}`)
)
const NAMED = [...guide.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/api\/[^\s`]+)`/g)].map(
  ([, method, path = '']) => `${method} ${shapeOf(path)}`
)

/** Parts of paths that scripts keep in variables; any other variable is one segment. */
const PARTS: Readonly<Record<string, string[]>> = {
  of: ['', '/guest'],
  path: ['/cart', '/guest-cart', '/products/:/reviews']
}
const CALL = /(?:\(\s*'(GET|POST|PUT|PATCH|DELETE)',\s*)?(['`])((?:\$\{path\})?\/[a-z][^'`?\s]*|\$\{path\})/g

/** What a script sends: for each path in its text the operation, or all operations of the path where no method precedes it. */
const sentBy = (script: string): string[][] =>
  [...script.matchAll(CALL)]
    .flatMap(([, method, , text = '']) => pathsOf(text).map(path => ({ method, path })))
    .map(({ method, path }) =>
      OPERATIONS.filter(
        each => each.endsWith(` ${path}`) && (method === undefined || each.startsWith(method))
      )
    )
    .filter(operations => operations.length > 0)
function pathsOf(text: string): string[] {
  const withParts = Object.entries(PARTS).reduce(
    (texts, [name, parts]) =>
      texts.flatMap(each =>
        each.includes(`\${${name}}`) ? parts.map(part => each.replace(`\${${name}}`, part)) : [each]
      ),
    [text]
  )
  return withParts.map(each => `/api${each.replaceAll(/\$\{[^}]*\}/g, ':')}`)
}

test('the shop front guide names each file of the shop front, and no other', () => {
  const linked = [...guide.matchAll(/\]\(\.\.\/demo\/shop\/([\w.]+)\)/g)].map(([, name]) => name)
  expect([...new Set(linked)].sort()).toEqual([...FILES].sort())
  const spoken = [...guide.matchAll(/`([a-z]+\.(?:js|css|html))`/g)].map(([, name = '']) => name)
  expect(spoken.filter(name => !FILES.includes(name) && name !== 'fr.js')).toEqual([])
})

test('each request that the shop front guide names is an operation, and a script of the shop front sends it', () => {
  expect(NAMED.filter(each => !OPERATIONS.includes(each))).toEqual([])
  const sent = SCRIPTS.flatMap(sentBy).flat()
  expect(NAMED.filter(each => !sent.includes(each))).toEqual([])
})

test('each request that a script of the shop front sends is named in its guide', () => {
  const sent = SCRIPTS.flatMap(sentBy)
  expect(sent.length).toBeGreaterThan(50)
  expect(sent.filter(operations => !operations.some(each => NAMED.includes(each)))).toEqual([])
})

test('each error and finding that the shop front guide names is handled by a script', () => {
  const codes = [...guide.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, code = '']) => code)
  expect(codes.length).toBeGreaterThan(30)
  const known = new Set(SCRIPTS.join('\n').match(/\b[A-Z]+(?:_[A-Z]+)+\b/g))
  expect(codes.filter(code => !known.has(code))).toEqual([])
})
