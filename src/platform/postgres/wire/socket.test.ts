import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, testDatabaseOptions } from '../../../../test/support/database.ts'
import { createPgClient, pgClientConfig } from '../connect.ts'
import { createDatabaseSocket } from './socket.ts'

/** Many times what a socket receives at once. */
const LENGTH = 1_000_000

test('connections that receive long results in turn mix none of their bytes', async () => {
  const { url, drop } = await createTestDatabase()
  const letters = [...'abcdef']
  const clients = letters.map(() =>
    createPgClient({ ...pgClientConfig(testDatabaseOptions(url)), stream: createDatabaseSocket })
  )
  onTestFinished(async () => {
    await Promise.all(clients.map(client => client.end()))
    await drop()
  })
  await Promise.all(clients.map(client => client.connect()))
  const rows = await Promise.all(
    letters.map(async (letter, at) => {
      const result = await clients[at]?.query('select repeat($1, $2) as text', [letter, LENGTH])
      return result?.rows[0].text
    })
  )
  expect(rows.map(text => [...new Set(text)].join() + text.length)).toEqual(
    letters.map(letter => `${letter}${LENGTH}`)
  )
})
