import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommandLine } from '../../test/support/command.ts'
import { createTestDatabase } from '../../test/support/database.ts'

let database: Awaited<ReturnType<typeof createTestDatabase>>
let folder: string
beforeAll(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'rubbish-'))
  await writeFile(join(folder, 'rubbish'), Buffer.from([0, 255, 10, 34, 200, 13, 44, 7]))
})
afterAll(async () => {
  await database.drop()
  await rm(folder, { recursive: true })
})

const run = (line: string) =>
  runCommandLine(
    line.split(' ').map(word => word.replace('FOLDER', folder)),
    { settings: { DATABASE_URL: database.url } }
  )

test.each([
  ['import FOLDER/nothing.csv', /^Cannot read \//],
  ['import FOLDER', /it is a folder/],
  ['import FOLDER/rubbish', /^The file/],
  ['restore FOLDER/rubbish', /^There is a shop in this database/],
  ['backup FOLDER/rubbish', /already exists/],
  ['backup FOLDER/no/such/folder', /^The backup failed/],
  ['export products FOLDER/rubbish', /already exists/],
  ['routes --module nonsense', /^There is no module nonsense/],
  ['user create --email nonsense', /./],
  ['user create', /\nSee "cartwright user create --help"\.\n$/],
  ['user disable --email nobody@example.com', /^No account has the e-mail address/],
  ['user role --email nobody@example.com --role admin --scopes nonsense', /^There is no module nonsense/],
  ['payments reconcile --since yesterday', /is not a point in time/],
  ['payments reconcile --since 9999-01-01', /in the future/],
  ['chaos --minutes 0', /^--minutes 0 must be a number above 0/],
  ['chaos --processes 1,2.5', /^--processes 2.5 must be a whole number/]
])('the command "%s" fails with exit code 1 and prints one sentence only', async (line, sentence) => {
  const { code, out, errors } = await run(line)
  expect([code, out]).toEqual([1, ''])
  expect(errors).toMatch(sentence)
  expect(errors).not.toMatch(/^ {4}at /m)
})

test('the command "import --json" prints a report for a file that is rejected as a whole', async () => {
  const { code, out, errors } = await run('import FOLDER/rubbish --json')
  expect([code, errors]).toEqual([1, ''])
  expect(JSON.parse(out).errors).toHaveLength(1)
})

test('a command that cannot reach the database server prints one sentence as the error', async () => {
  const settings = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
  for (const line of ['modules', 'migrate --json', 'inventory check --json']) {
    const { code, errors } = await runCommandLine(line.split(' '), { settings })
    expect(code, line).toBe(line === 'modules' ? 0 : 1)
    expect(errors, line).not.toMatch(/^ {4}at /m)
  }
})
