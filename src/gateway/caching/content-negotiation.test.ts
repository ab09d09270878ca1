import { expect, test } from 'vitest'
import { acceptsGzip, matchesIfNoneMatch } from './content-negotiation.ts'

test.each([
  [undefined, false],
  ['', false],
  ['identity', false],
  ['br', false],
  ['gzip', true],
  ['GZIP', true],
  ['x-gzip', true],
  ['gzip, deflate, br, zstd', true],
  ['br;q=1.0, gzip;q=0.8, *;q=0.1', true],
  ['*', true],
  ['*;q=0', false],
  ['gzip;q=0', false],
  ['gzip;q=0.000, *', false],
  ['gzip ; q = 0.5', true],
  ['gzip;q=0.5, identity', false],
  ['gzip;q=0.5, identity;q=0.5', true],
  ['identity;q=0, *', true],
  ['gzip;q=much', false],
  ['gzipped', false],
  [',,;=', false]
])('the header Accept-Encoding %j accepts gzip: %s', (header, isAccepted) => {
  expect(acceptsGzip(header)).toBe(isAccepted)
})

test.each([
  ['"a"', true],
  ['W/"a"', true],
  ['*', true],
  ['"b", "a"', true],
  ['"b" ,W/"a"', true],
  ['"b"', false],
  ['a', false],
  ['"A"', false],
  ['"a', false],
  ['w/"a"', false],
  ['"a-gzip"', false],
  ['', false]
])('the header If-None-Match %j matches the ETag "a": %s', (header, names) => {
  expect(matchesIfNoneMatch(header, '"a"')).toBe(names)
})
