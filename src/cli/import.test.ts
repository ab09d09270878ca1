import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCommandLine } from '../../test/support/command.ts'
import { createTestDatabase } from '../../test/support/database.ts'

test('the import command prints what was created, invalid rows and ignored columns', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'import-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'products.csv')
  const unread = Array.from({ length: 22 }, (_, index) => `Field ${index}`)
  const rest = ','.repeat(unread.length)
  await writeFile(
    file,
    `Handle,Title,Variant Price,${unread.join()}\nmug,Mug,10${rest}\njug,Jug,ten${rest}\n`
  )
  const { url, drop } = await createTestDatabase()
  onTestFinished(drop)
  const { code, out, errors } = await runCommandLine(['import', file], { settings: { DATABASE_URL: url } })
  expect([code, errors]).toEqual([1, ''])
  expect(out.split('\n')).toEqual([
    '2 rows',
    'products: 1 created, 0 updated, 0 unchanged, 1 failed',
    'variants: 1 created, 0 updated, 0 unchanged, 0 deactivated',
    `ignored columns: ${unread.slice(0, 20).join(', ')}, and 2 more`,
    expect.stringMatching(/^row 3, jug, Variant Price: This is not an amount in USD/),
    ''
  ])
})
