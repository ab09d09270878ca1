import { expect, test } from 'vitest'
import { hostnameOfHostHeader, isLoopbackHost } from './hosts.ts'

test.each([
  ['localhost', 'localhost'],
  ['LocalHost:8080', 'localhost'],
  ['127.0.0.1:80', '127.0.0.1'],
  ['[::1]:8080', '[::1]'],
  ['[::1]', '[::1]'],
  ['shop.example:443', 'shop.example'],
  ['a:b', undefined],
  ['user@localhost', 'user@localhost'],
  ['localhost/x', undefined],
  ['', undefined]
])('the host in the header %j is %s', (host, name) => {
  expect(hostnameOfHostHeader(host)).toBe(name)
})

test.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['[::1]', true],
  ['localhost.evil.example', false],
  ['127.0.0.1.evil.example', false],
  ['user@localhost', false],
  ['192.168.0.2', false],
  ['0.0.0.0', false]
])('the host %s always means this machine: %s', (name, is) => {
  expect(isLoopbackHost(name)).toBe(is)
})
