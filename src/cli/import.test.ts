import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { SECRET_SETTINGS } from '../../test/support/secrets.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))

test('an import prints what was made, the rows that are wrong, and the columns that were not read', async () => {
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
  const child = spawn(process.execPath, [main, 'import', file], {
    env: { ...process.env, DATABASE_URL: url, ...SECRET_SETTINGS, CARTWRIGHT__LOG__LEVEL: 'silent' }
  })
  child.stdin.end()
  const exited = new Promise<number | null>(resolve => child.on('close', resolve))
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  expect([await exited, errors]).toEqual([1, ''])
  expect(out.split('\n')).toEqual([
    '2 rows',
    'products: 1 created, 0 updated, 0 unchanged, 1 failed',
    'variants: 1 created, 0 updated, 0 unchanged, 0 deactivated',
    `columns not read: ${unread.slice(0, 20).join(', ')}, and 2 more`,
    expect.stringMatching(/^row 3, jug, Variant Price: This is not an amount in USD/),
    ''
  ])
})
