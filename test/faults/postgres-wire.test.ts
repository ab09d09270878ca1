import { expect, test } from 'vitest'
import { watchCommits, watchStatements } from './postgres-wire.ts'

const message = (type: string, body: string) => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(4 + body.length)
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body, 'latin1')])
}
const startup = message('', '\0\x03\0\0user\0cartwright\0\0')
const commits = {
  'a query': [message('Q', 'commit\0')],
  'a query in capitals': [message('Q', 'COMMIT;\0')],
  'a statement without a name': [message('P', '\0commit\0\0\0'), message('B', '\0\0\0\0\0\0\0\0')],
  'a prepared statement': [message('P', 'end\0commit\0\0\0'), message('B', '\0end\0\0\0\0\0\0\0')],
  'behind other messages': [message('Q', 'select 1\0'), message('S', ''), message('Q', 'commit\0')]
}

test.each(Object.entries(commits))('the test proxy finds a COMMIT sent as: %s', (_name, messages) => {
  const { watch, breakAt } = watchCommits()
  const connection = {}
  breakAt('to_server', 'reset', 2)
  expect(watch(connection, 'to_server', startup)).toBe('pass')
  const once = () => messages.map(each => watch(connection, 'to_server', each))
  // The fault hits every second commit.
  expect(once()).not.toContain('reset')
  expect(once()).toContain('reset')
})

test.each([
  ['begin', message('Q', 'begin\0')],
  ['a text that says so', message('B', '\0insert\0\0\0\0\x01commit\0')],
  ['a statement that is only prepared', message('P', 'end\0commit\0\0\0')]
])('the test proxy does not mistake another message for a COMMIT: %s', (_name, chunk) => {
  const { watch, breakAt } = watchCommits()
  const connection = {}
  breakAt('to_server', 'lose', 2)
  watch(connection, 'to_server', startup)
  for (let i = 0; i < 4; i += 1) expect(watch(connection, 'to_server', chunk)).toBe('pass')
})

test('the test proxy finds the response to a COMMIT, also in pieces, and only while a fault is planted', () => {
  const { watch, breakAt, restore } = watchCommits()
  const connection = {}
  const answer = message('C', 'COMMIT\0')
  const pieces = [answer.subarray(0, 3), answer.subarray(3, 8), answer.subarray(8)]
  const once = () => pieces.map(each => watch(connection, 'to_program', each))
  expect(once()).toEqual(['pass', 'pass', 'pass'])
  breakAt('to_program', 'lose', 2)
  expect([once(), once()]).toEqual([
    ['pass', 'pass', 'pass'],
    ['pass', 'pass', 'lose']
  ])
  restore()
  expect([once(), once()].flat()).not.toContain('lose')
})

test('the test proxy finds a PostgreSQL statement by its name, once, wherever a chunk ends', () => {
  const { watch, seenStatements: seen, onceAt } = watchStatements()
  const connection = {}
  const sent = Buffer.concat([message('B', '\0orders.insert\0\0\0\0\0\0\0'), message('S', '')])
  const send = () => [sent.subarray(0, 4), sent.subarray(4)].map(each => watch(connection, 'to_server', each))
  watch(connection, 'to_server', startup)
  expect(send()).toEqual(['pass', 'pass'])
  expect([...seen]).toEqual(['orders.insert'])
  onceAt('orders.insert', () => 'reset')
  expect(send()).toEqual(['pass', 'reset'])
  expect(send()).toEqual(['pass', 'pass'])
})

test('the test proxy finds the COMMIT of the transaction that sent a statement, and no other', () => {
  const { watch, lastStatements: last, onceCommitted } = watchStatements()
  const [one, other] = [{}, {}]
  const statement = message('B', '\0orders.insert\0\0\0\0\0\0\0')
  const send = (connection: object, chunk: Buffer) => watch(connection, 'to_server', chunk)
  for (const connection of [one, other]) send(connection, startup)
  onceCommitted('orders.insert', () => 'lose')
  expect(send(one, message('Q', 'commit\0'))).toBe('pass')
  expect(send(one, statement)).toBe('pass')
  expect(send(other, message('Q', 'commit\0'))).toBe('pass')
  expect(send(one, message('Q', 'commit\0'))).toBe('lose')
  expect([...last]).toContain('orders.insert')
  expect(send(one, statement)).toBe('pass')
  expect(send(one, message('Q', 'commit\0'))).toBe('pass')
})
