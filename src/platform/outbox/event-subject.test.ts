import { expect, test } from 'vitest'
import { defineEvent } from '../../kernel/events.ts'
import { Id } from '../../kernel/wire.ts'
import type { RunningEventLog } from '../event-log/event-log.ts'
import { createMetricRegistry } from '../metrics/registry.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import { createOutbox } from './outbox.ts'

const about = { description: 'A kite rose.', subject: 'the kite' }
const kiteRose = defineEvent('kite.rose', { ...about, webhook: 'all' }, { kite_id: Id })
const kiteFell = defineEvent(
  'kite.fell',
  { ...about, webhook: 'latest', unversioned: 'Kites that fell have no version.' },
  { kite_id: Id }
)
const kiteTurned = defineEvent('kite.turned', { ...about, webhook: 'none' }, { kite_id: Id })

const ID = '01981d5e-0000-7000-8000-000000000001'
/** An outbox without a database, a transaction, and what the transaction inserts with its commit. */
function useOutbox() {
  const outbox = createOutbox({
    db: {} as Database,
    log: { debug() {}, info() {}, warn() {}, error() {} } as never,
    metrics: createMetricRegistry(),
    eventLog: { wake() {}, start() {}, stop: async () => {} } satisfies Pick<
      RunningEventLog,
      'wake' | 'start' | 'stop'
    >
  })
  let insert: () => unknown = () => undefined
  const inserted: unknown[] = []
  const tx = {
    withCommit: (work: (tx: Transaction) => unknown) => {
      insert = () => work(tx)
    },
    afterCommit() {},
    run: async (_statement: unknown, values: unknown) => inserted.push(values),
    rows: async (_statement: unknown, values: unknown) => {
      inserted.push(values)
      return []
    }
  } as unknown as Transaction
  const commit = () => {
    insert()
    return inserted
  }
  return { ...outbox, tx, commit }
}

test('an event that webhooks may send does not compile without the version of its subject, and is rejected', () => {
  const { emit, tx } = useOutbox()
  // @ts-expect-error: the version is missing
  expect(() => emit(tx, kiteRose, ID, { kite_id: ID })).toThrow(
    'kite.rose is declared with the version of its subject'
  )
})

test.each([
  ['declares why it has no version', kiteFell],
  ['is never sent by webhooks', kiteTurned]
] as const)('an event that %s does not compile with a version, and is rejected', (_, type) => {
  const { emit, tx } = useOutbox()
  // @ts-expect-error: the event has no version
  expect(() => emit(tx, type, { id: ID, version: 1 }, { kite_id: ID })).toThrow(
    'is not declared with the version of its subject'
  )
})

test('a function as the version of a subject is called with the commit', () => {
  const { emit, tx, commit } = useOutbox()
  let version = 1
  emit(tx, kiteRose, { id: ID, version: () => version }, { kite_id: ID })
  version = 2
  expect(commit()).toEqual([expect.objectContaining({ subject: ID, subject_version: 2 })])
})

test('events of one transaction keep the versions of their subjects, and null for those without one', () => {
  const { emit, tx, commit } = useOutbox()
  emit(tx, kiteRose, { id: ID, version: 7 }, { kite_id: ID })
  emit(tx, kiteRose, { id: ID, version: null }, { kite_id: ID })
  emit(tx, kiteFell, ID, { kite_id: ID })
  expect(commit()).toEqual([expect.objectContaining({ subjectVersions: [7, -1, -1] })])
})
