import { expect, test } from 'vitest'
import { isSupportedDatabaseUrl, parseDatabaseUrl } from './database-url.ts'

test('a database URL with several hosts is split into one URL for each host', () => {
  expect(
    parseDatabaseUrl('postgres://u:p%40@a:5432,b/shop?sslmode=require&target_session_attrs=read-write')
  ).toEqual({
    urls: ['postgres://u:p%40@a:5432/shop?sslmode=require', 'postgres://u:p%40@b/shop?sslmode=require'],
    attributes: 'read-write'
  })
  expect(parseDatabaseUrl('postgresql:///shop?host=/run/postgresql')).toEqual({
    urls: ['postgresql:///shop?host=/run/postgresql'],
    attributes: null
  })
})

test.each([
  ['postgres://a,b/shop', true],
  ['postgres://a,b/shop?target_session_attrs=primary', true],
  ['postgres://a/shop?target_session_attrs=any', true],
  ['postgres://[::1]:5432,[::2]:5433/shop', true],
  ['postgres://a,b/shop?target_session_attrs=standby', false],
  ['postgres://a,b:port/shop', false],
  ['postgres://a,,b/shop', false],
  ['mysql://a/shop', false],
  ['postgres://a/shop#x', false],
  ['db.example.com', false]
])('whether the database URL %s is supported: %s', (url, isSupported) => {
  expect(isSupportedDatabaseUrl(url)).toBe(isSupported)
})
