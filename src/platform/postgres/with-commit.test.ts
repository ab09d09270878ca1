import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { sendWithCommit } from './with-commit.ts'

const insert = (id: number) => ({
  name: 'insert_mark',
  text: 'insert into public.marks (id) values ($1) returning id',
  values: [id]
})

/** A connection as the pools open them, and how often the server said that it was done with what it got. */
async function useConnection() {
  const { url, drop } = await createTestDatabase()
  const client = new pg.Client({ connectionString: url, pipeline: true } as pg.ClientConfig)
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await drop()
  })
  await client.query('create table public.marks (id int primary key)')
  let answers = 0
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter }
  connection.on('readyForQuery', () => {
    answers += 1
  })
  const marks = async () => (await client.query('select id from public.marks order by id')).rows
  return { client, marks, answers: () => answers }
}

test('a statement and the commit are answered once, each with its own result', async () => {
  const { client, marks, answers } = await useConnection()
  for (const id of [1, 2]) {
    await client.query('begin')
    const before = answers()
    const [inserted, committed] = await sendWithCommit(client, insert(id))
    expect(answers() - before).toBe(1)
    expect(inserted).toMatchObject({ command: 'INSERT', rowCount: 1, rows: [{ id }] })
    expect(committed).toMatchObject({ command: 'COMMIT', rows: [] })
  }
  expect(await marks()).toEqual([{ id: 1 }, { id: 2 }])
})

test('a statement that fails takes the commit with it, and the connection goes on', async () => {
  const { client, marks } = await useConnection()
  await client.query('insert into public.marks (id) values (1)')
  await client.query('begin')
  await client.query('insert into public.marks (id) values (2)')
  await expect(sendWithCommit(client, insert(1))).rejects.toMatchObject({ code: '23505' })
  expect((await client.query('rollback')).command).toBe('ROLLBACK')
  await client.query('begin')
  await sendWithCommit(client, insert(3))
  expect(await marks()).toEqual([{ id: 1 }, { id: 3 }])
})
