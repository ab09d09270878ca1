import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../../../../test/support/database.ts'
import { type BatchedStatement, StatementBatchQuery, type StatementResult } from './batch-query.ts'

const ask = (text: string, values: string[] = [], name = '') => ({ name, text, values })
const insert = (id: string) =>
  ask('insert into public.marks (id) values ($1) returning id', [id], 'insert_mark')
const list = ask('select id, at from public.marks order by id', [], 'list_marks')
const begin = ask('begin')
const commit = ask('commit')

/** A connection as the pools open them, and a count of its ReadyForQuery messages. */
async function useConnection() {
  const { url, drop } = await createTestDatabase()
  const client = new pg.Client({ connectionString: url, pipeline: true } as pg.ClientConfig)
  client.on('error', () => {})
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await drop()
  })
  await client.query(`create table public.marks (id int primary key, at text not null default 'now')`)
  let answers = 0
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter }
  connection.on('readyForQuery', () => {
    answers += 1
  })
  /** Sends the statements in one message. */
  function send(
    ...statements: Omit<BatchedStatement, 'resolve' | 'reject'>[]
  ): Promise<PromiseSettledResult<StatementResult>[]> {
    const all = statements.map(each => ({ ...each, ...Promise.withResolvers<StatementResult>() }))
    client.query(new StatementBatchQuery(all, 5_000) as unknown as pg.QueryConfig)
    return Promise.allSettled(all.map(({ promise }) => promise))
  }
  const marks = async () =>
    (await client.query('select id from public.marks order by id')).rows.map(row => row.id)
  return { client, send, marks, answers: () => answers }
}
const reasons = (settled: PromiseSettledResult<StatementResult>[]) =>
  settled.map(each => (each.status === 'rejected' ? each.reason.code : 'done'))

test('each statement in one protocol message gets its own result, in the first run and when already prepared', async () => {
  const { send, marks, answers } = await useConnection()
  for (const ids of [
    ['1', '2'],
    ['3', '4']
  ] as const) {
    const before = answers()
    const settled = await send(begin, insert(ids[0]), insert(ids[1]), list, commit)
    expect(answers() - before).toBe(1)
    const values = settled.map(each => (each as PromiseFulfilledResult<StatementResult>).value)
    expect(values.map(({ command }) => command)).toEqual(['BEGIN', 'INSERT', 'INSERT', 'SELECT', 'COMMIT'])
    expect(values[2]).toEqual({ rows: [{ id: Number(ids[1]) }], rowCount: 1, command: 'INSERT' })
    expect(values[3]?.rows.at(-1)).toEqual({ id: Number(ids[1]), at: 'now' })
    expect(values[4]).toEqual({ rows: [], rowCount: 0, command: 'COMMIT' })
  }
  expect(await marks()).toEqual([1, 2, 3, 4])
})

test('a failing statement fails the later ones of its protocol message and the commit, and the connection stays usable', async () => {
  const { client, send, marks } = await useConnection()
  await client.query('insert into public.marks (id) values (1)')
  // In the first run, the server has not prepared the statements after the failing one.
  for (const _ of [1, 2]) {
    const settled = await send(begin, insert('2'), insert('1'), list, commit)
    expect(reasons(settled)).toEqual(['done', 'done', '23505', '23505', '23505'])
    expect((await client.query('rollback')).command).toBe('ROLLBACK')
  }
  expect(reasons(await send(insert('1'), list))).toEqual(['23505', '23505'])
  expect(reasons(await send(begin, insert('3'), list, commit))).toEqual(['done', 'done', 'done', 'done'])
  expect(await marks()).toEqual([1, 3])
})

test('protocol messages that are sent before the first response may each prepare the same statement', async () => {
  const { send, marks } = await useConnection()
  const settled = await Promise.all([send(insert('1')), send(insert('2')), send(insert('2')), send(list)])
  expect(settled.map(each => reasons(each).join())).toEqual(['done', 'done', '23505', 'done'])
  expect(await marks()).toEqual([1, 2])
})

test('a statement that was not prepared because an earlier one failed is prepared the next time', async () => {
  const { client, send, marks } = await useConnection()
  const failed = await Promise.all([send(begin, insert('1'), ask('select 1 / 0')), send(insert('2'))])
  expect(failed.map(reasons)).toEqual([['done', 'done', '22012'], ['25P02']])
  await client.query('rollback')
  expect(reasons(await send(begin, insert('3'), commit))).toEqual(['done', 'done', 'done'])
  expect(await marks()).toEqual([3])
})

test('a result value that JavaScript cannot represent fails only its own statement', async () => {
  const { send } = await useConnection()
  const large = ask('select 9007199254740993::bigint as large', [], 'large')
  // This module sets the parsers that reject the value.
  await import('../connect.ts')
  const [failed, listed] = await send(large, list)
  expect(failed).toMatchObject({ status: 'rejected', reason: expect.any(RangeError) })
  expect(listed).toMatchObject({ status: 'fulfilled', value: { rows: [] } })
})

test('without a response in time every statement of a protocol message fails, and the connection is closed', async () => {
  const { client } = await useConnection()
  const all = [ask('select pg_sleep(60)'), list].map(each => ({
    ...each,
    ...Promise.withResolvers<StatementResult>()
  }))
  client.query(new StatementBatchQuery(all, 20) as unknown as pg.QueryConfig)
  for (const { promise } of all) await expect(promise).rejects.toThrow('Query read timeout')
  await expect(client.query('select 1')).rejects.toThrow()
})
