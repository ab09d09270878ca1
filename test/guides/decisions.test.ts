import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'decisions')
const files = (await readdir(FOLDER)).filter(name => /^\d{4}-/.test(name)).sort()
const index = await readFile(join(FOLDER, 'README.md'), 'utf8')

/** The decisions that an index lists, in the order of their numbers. */
const listedIn = (text: string) =>
  [...text.matchAll(/^\* \[\d{4}\]\((\d{4}-[\w-]+\.md)\)/gm)].map(([, name]) => name).sort()

/** The numbers that the status of a decision says it changes or replaces. */
const changedBy = (text: string): string[] => {
  const status = /Status: .*/.exec(text)?.[0] ?? ''
  const [, objects = ''] =
    /\b(?:changes|replaces the part of|changes the waiting time of) (.*)/i.exec(status) ?? []
  return [...objects.matchAll(/\[(\d{4})\]|\b(\d{1,2})\b/g)].map(([, link, number]) =>
    (link ?? number ?? '').padStart(4, '0')
  )
}

test('the index of decisions lists each decision once', () => {
  expect(listedIn(index)).toEqual(files)
})

test('no two decisions have the same number, and each title states it', async () => {
  const numbers = files.map(name => Number(name.slice(0, 4)))
  expect(numbers).toEqual([...new Set(numbers)])
  const titles = await Promise.all(files.map(name => readFile(join(FOLDER, name), 'utf8')))
  expect(titles.map(title => Number(/^# (\d+)\. /.exec(title)?.[1]))).toEqual(numbers)
})

test('the index of decisions marks each decision that a later one changes', async () => {
  let changes = 0
  for (const name of files) {
    const text = await readFile(join(FOLDER, name), 'utf8')
    for (const number of changedBy(text)) {
      changes += 1
      const line = index.split('\n').find(each => each.startsWith(`* [${number}]`)) ?? ''
      expect(line, `${number} is changed by ${name}`).toContain(`](${name})**`)
    }
  }
  expect(changes).toBeGreaterThan(3)
})

test('the check of the index finds a decision that is missing from it', () => {
  const without = index.replace(/^\* \[0044\].*\n/m, '')
  expect(files.filter(name => !listedIn(without).includes(name))).toEqual([
    '0044-a-price-is-one-pure-function.md'
  ])
})
