import { expect, test } from 'vitest'
import { createMethodLookup, type MountedRoute } from './routes.ts'

const route = (method: string | string[], url: string): MountedRoute => ({
  method,
  url,
  owner: null,
  class: null,
  hasTier: false,
  unbounded: []
})

test.each([
  ['/things', ['GET', 'HEAD', 'POST']],
  ['/things/7', ['DELETE', 'GET']],
  ['/things/import', ['DELETE', 'GET', 'POST']],
  ['/things/', []],
  ['/things/7/parts', []],
  ['/other', []],
  ['/', []]
])('the methods at %s are those of every pattern that it fits', (path, methods) => {
  const allowedMethods = createMethodLookup([
    route('POST', '/things'),
    route(['GET', 'HEAD'], '/things'),
    route('GET', '/things/:id'),
    route('DELETE', '/things/:thing'),
    route('POST', '/things/import')
  ])
  expect(allowedMethods(path)).toEqual(methods)
})
