import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, testDatabaseOptions } from '../../../test/support/database.ts'
import { openDatabase } from './database.ts'
import { statement } from './statement.ts'

const READ_ONLY = { kind: 'unavailable', code: 'DATABASE_READ_ONLY' }
const setUp = [
  statement({ name: 'test.create_written', text: 'create table public.written (value serial)' }),
  statement({ name: 'test.create_drawn', text: 'create sequence public.drawn' })
]
const write = statement({ name: 'test.write', text: 'insert into public.written default values' })
const gives = { value: 'int4' } as const
const lock = statement({ name: 'test.lock', gives, text: 'select value from public.written for update' })
const read = statement({
  name: 'test.read',
  gives,
  text: 'select count(*)::int as value from public.written'
})
const draw = statement({ name: 'test.draw', gives, text: `select nextval('public.drawn')::int as value` })

/** A primary that a process only reads, as after the promotion of its standby. */
async function useReadOnlyDatabase() {
  const created = await createTestDatabase()
  onTestFinished(created.drop)
  const writable = openDatabase(testDatabaseOptions(created.url))
  await writable.transaction(async tx => {
    for (const each of setUp) await tx.run(each)
    await tx.run(write)
  })
  const sent: string[] = []
  const db = openDatabase({
    ...testDatabaseOptions(created.url),
    isReadOnly: true,
    onStatement: name => sent.push(name)
  })
  onTestFinished(async () => {
    await db.close()
    await writable.close()
  })
  return { db, sent, writable }
}

test('a database that is only read rejects transactions, writes and locks without sending them', async () => {
  const { db, sent } = await useReadOnlyDatabase()
  const transaction = () => db.transaction(async tx => tx.run(write))
  const works = [
    transaction,
    () => db.run(write),
    () => db.first(lock),
    () => db.groupCommit().transaction(async tx => tx.run(write)),
    () => db.serializedBy('key').run(write),
    () => db.proveWrite()
  ]
  for (const work of works) await expect(work()).rejects.toMatchObject(READ_ONLY)
  const dedicated = db.dedicated()
  const attempt = await dedicated.attempt(async tx => tx.run(write), {
    deadlineAt: performance.now() + 1_000
  })
  expect(attempt).toMatchObject({ kind: 'undone', error: READ_ONLY })
  await dedicated.close()
  expect(sent).toEqual([])
  expect(await db.first(read)).toEqual({ value: 1 })
})

test('a read that writes behind its text is rejected by the server', async () => {
  const { db, writable } = await useReadOnlyDatabase()
  await expect(db.first(draw)).rejects.toMatchObject(READ_ONLY)
  expect(await writable.first(draw)).toEqual({ value: 1 })
})
