import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { type Answer, type Asked, JointQuery } from './joint-query.ts'

const ask = (text: string, values: string[] = [], name = '') => ({ name, text, values })
const insert = (id: string) =>
  ask('insert into public.marks (id) values ($1) returning id', [id], 'insert_mark')
const list = ask('select id, at from public.marks order by id', [], 'list_marks')
const begin = ask('begin')
const commit = ask('commit')

/** A connection as the pools open them, and how often the server said that it was done with what it got. */
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
  /** Sends them in one message. */
  function send(...statements: Omit<Asked, 'resolve' | 'reject'>[]): Promise<PromiseSettledResult<Answer>[]> {
    const all = statements.map(each => ({ ...each, ...Promise.withResolvers<Answer>() }))
    client.query(new JointQuery(all, 5_000) as unknown as pg.QueryConfig)
    return Promise.allSettled(all.map(({ promise }) => promise))
  }
  const marks = async () =>
    (await client.query('select id from public.marks order by id')).rows.map(row => row.id)
  return { client, send, marks, answers: () => answers }
}
const reasons = (settled: PromiseSettledResult<Answer>[]) =>
  settled.map(each => (each.status === 'rejected' ? each.reason.code : 'done'))

test('statements are answered once, each with its own result, when they are prepared and when they are known', async () => {
  const { send, marks, answers } = await useConnection()
  for (const ids of [
    ['1', '2'],
    ['3', '4']
  ] as const) {
    const before = answers()
    const settled = await send(begin, insert(ids[0]), insert(ids[1]), list, commit)
    expect(answers() - before).toBe(1)
    const values = settled.map(each => (each as PromiseFulfilledResult<Answer>).value)
    expect(values.map(({ command }) => command)).toEqual(['BEGIN', 'INSERT', 'INSERT', 'SELECT', 'COMMIT'])
    expect(values[2]).toEqual({ rows: [{ id: Number(ids[1]) }], rowCount: 1, command: 'INSERT' })
    expect(values[3]?.rows.at(-1)).toEqual({ id: Number(ids[1]), at: 'now' })
    expect(values[4]).toEqual({ rows: [], rowCount: 0, command: 'COMMIT' })
  }
  expect(await marks()).toEqual([1, 2, 3, 4])
})

test('one that fails takes those behind it and the commit with it, for its reason, and the connection goes on', async () => {
  const { client, send, marks } = await useConnection()
  await client.query('insert into public.marks (id) values (1)')
  // In its first run it fails when the server has prepared it, and those behind it before that.
  for (const _ of [1, 2]) {
    const settled = await send(begin, insert('2'), insert('1'), list, commit)
    expect(reasons(settled)).toEqual(['done', 'done', '23505', '23505', '23505'])
    expect((await client.query('rollback')).command).toBe('ROLLBACK')
  }
  expect(reasons(await send(insert('1'), list))).toEqual(['23505', '23505'])
  expect(reasons(await send(begin, insert('3'), list, commit))).toEqual(['done', 'done', 'done', 'done'])
  expect(await marks()).toEqual([1, 3])
})

test('messages that are sent before the first is answered prepare the same statement, each for itself', async () => {
  const { send, marks } = await useConnection()
  const settled = await Promise.all([send(insert('1')), send(insert('2')), send(insert('2')), send(list)])
  expect(settled.map(each => reasons(each).join())).toEqual(['done', 'done', '23505', 'done'])
  expect(await marks()).toEqual([1, 2])
})

test('a statement that a message could not prepare again, behind one that failed, is prepared the next time', async () => {
  const { client, send, marks } = await useConnection()
  const failed = await Promise.all([send(begin, insert('1'), ask('select 1 / 0')), send(insert('2'))])
  expect(failed.map(reasons)).toEqual([['done', 'done', '22012'], ['25P02']])
  await client.query('rollback')
  expect(reasons(await send(begin, insert('3'), commit))).toEqual(['done', 'done', 'done'])
  expect(await marks()).toEqual([3])
})

test('what does not fit JavaScript fails whoever asked for it, and not those behind it', async () => {
  const { send } = await useConnection()
  const large = ask('select 9007199254740993::bigint as large', [], 'large')
  // The parsers that refuse it are those of connections.
  await import('./connect.ts')
  const [failed, listed] = await send(large, list)
  expect(failed).toMatchObject({ status: 'rejected', reason: expect.any(RangeError) })
  expect(listed).toMatchObject({ status: 'fulfilled', value: { rows: [] } })
})

test('without an answer in time all of them fail, and the connection is given up', async () => {
  const { client } = await useConnection()
  const all = [ask('select pg_sleep(60)'), list].map(each => ({
    ...each,
    ...Promise.withResolvers<Answer>()
  }))
  client.query(new JointQuery(all, 20) as unknown as pg.QueryConfig)
  for (const { promise } of all) await expect(promise).rejects.toThrow('Query read timeout')
  await expect(client.query('select 1')).rejects.toThrow()
})
