import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCommandLine } from '../../test/support/command.ts'
import { createTestDatabase } from '../../test/support/database.ts'

async function useCommands() {
  const folder = await mkdtemp(join(tmpdir(), 'export-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const databases = [await createTestDatabase(), await createTestDatabase()] as const
  for (const { drop } of databases) onTestFinished(drop)
  const on =
    ({ url }: { url: string }) =>
    (...words: string[]) =>
      runCommandLine(words, { settings: { DATABASE_URL: url } })
  return { path: (name: string) => join(folder, name), here: on(databases[0]), there: on(databases[1]) }
}

test('the commands export and import move the demo catalog with its stock to an empty shop', async () => {
  const { path, here, there } = await useCommands()
  expect(await here('seed', '--json')).toMatchObject({ code: 0, errors: '' })
  const file = path('products.csv')
  expect(await here('export', 'products', file, '--stock', '--json')).toMatchObject({ code: 0, errors: '' })
  const report = await there('import', file, '--json')
  expect({ ...report, out: JSON.parse(report.out).products.failed }).toEqual({ code: 0, out: 0, errors: '' })
  const { code, out, errors } = await there('export', 'products', '-', '--stock')
  const written = await readFile(file, 'utf8')
  const linesOf = (text: string) => text.split('\r\n').sort()
  expect([code, linesOf(out)]).toEqual([0, linesOf(written)])
  expect(errors).toMatch(/^Exported \d+ rows\.\n$/)

  const again = await here('export', 'products', file)
  expect(again).toEqual({ code: 1, out: '', errors: `${file} already exists. Name another file.\n` })
  expect(await readFile(file, 'utf8')).toBe(written)
  const stock = await here('export', 'stock', path('stock.csv'), '--json')
  const { rows } = JSON.parse(stock.out)
  expect((await readFile(path('stock.csv'), 'utf8')).trim().split('\r\n')).toHaveLength(rows + 1)
})

test('the command "export orders" filters by time and rejects an invalid time before it creates the file', async () => {
  const { path, here } = await useCommands()
  const file = path('orders.csv')
  expect(await here('export', 'orders', file, '--from', '2026-11-01', '--status', 'paid')).toEqual({
    code: 0,
    errors: '',
    out: `Exported 0 rows to ${file}.\n`
  })
  expect(await readFile(file, 'utf8')).toMatch(/^number,status,/)
  const wrong = await here('export', 'orders', path('other.csv'), '--to', 'tomorrow')
  expect(wrong).toMatchObject({
    code: 1,
    out: '',
    errors: expect.stringContaining('--to tomorrow is not a point in time')
  })
  const nowhere = await here('export', 'orders', path('no/such/folder.csv'))
  expect(nowhere).toMatchObject({ code: 1, out: '', errors: expect.stringContaining('Cannot write') })
})
