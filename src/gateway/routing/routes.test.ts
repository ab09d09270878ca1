import { expect, test } from 'vitest'
import { createMethodsOfPath, type MountedRoute } from './routes.ts'

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
])('the allowed methods of %s are those of every route pattern that it matches', (path, methods) => {
  const allowedMethods = createMethodsOfPath([
    route('POST', '/things'),
    route(['GET', 'HEAD'], '/things'),
    route('GET', '/things/:id'),
    route('DELETE', '/things/:thing'),
    route('POST', '/things/import')
  ])
  expect(allowedMethods(path)).toEqual(methods)
})
