import { expect, test } from 'vitest'
import type { RequestClass } from '../routing/tiers.ts'
import { createRequestClassLookup } from './request-classes.ts'

const route = (method: string | string[], url: string, of: RequestClass | null, hasTier = true) => ({
  method,
  url,
  owner: 'x',
  class: of,
  hasTier,
  unbounded: []
})
const classOf = createRequestClassLookup([
  route('GET', '/api/products', 'browse'),
  route('GET', '/api/products/:id', 'browse'),
  route('GET', '/api/products/export', 'bulk'),
  route(['PUT', 'DELETE'], '/api/products/:id', 'account'),
  route('POST', '/api/orders/:id/cancel', 'checkout'),
  route('GET', '/healthz', null, false),
  route('GET', '/.well-known/jwks.json', 'browse', false)
])

test.each([
  ['GET', '/api/products', 'browse'],
  ['GET', '/api/products?q=a/b', 'browse'],
  ['GET', '/api/products/1', 'browse'],
  ['GET', '/api/products/export', 'bulk'],
  ['DELETE', '/api/products/1?x', 'account'],
  ['POST', '/api/orders/1/cancel', 'checkout'],
  ['GET', 'http://shop.example/api/products/1', 'browse'],
  ['GET', '/api/pro%64ucts', 'browse']
])('the request %s %s has the class %s', (method, target, expected) =>
  expect(classOf(method, target)).toBe(expected)
)

test.each([
  ['GET', '/healthz'],
  ['GET', '/.well-known/jwks.json'],
  ['GET', '/api'],
  ['GET', '/api/none'],
  ['GET', '/api/products/1/none'],
  ['GET', '/api/products/'],
  ['POST', '/api/products'],
  ['GET', '*'],
  ['GET', '']
])('the request %s %s has no request class', (method, target) =>
  expect(classOf(method, target)).toBeUndefined()
)
