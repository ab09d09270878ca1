import { readFile } from 'node:fs/promises'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { httpLayerProblems, httpStatusByErrorKind } from '../src/gateway/problem.ts'
import type { ErrorKind } from '../src/kernel/errors.ts'
import { expectPage, tableOf } from './support/generated-page.ts'
import { readSources, type Source } from './support/source-files.ts'

const page = new URL('../docs/errors.md', import.meta.url)
type Entry = { code: string; status: number; meaning: string }

/** The arguments of every `defineError(kind, code, message)` in a file. */
function definitionsIn({ path, text }: Source): Entry[] {
  const found: Entry[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText() === 'defineError') {
      const [kind = '', code = '', meaning = ''] = node.arguments.map(argument => textOf(argument))
      found.push({ code, status: httpStatusByErrorKind[kind as ErrorKind], meaning })
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true))
  return found
}

/** A string, also one that is written in pieces. */
function textOf(node: ts.Expression): string {
  if (ts.isStringLiteralLike(node)) return node.text
  return ts.isBinaryExpression(node) ? textOf(node.left) + textOf(node.right) : ''
}

const sources = (await readSources()).filter(({ path }) => /^src\/(?!.*\.test\.ts$)/.test(path))
const ofHttp = Object.values(httpLayerProblems).map(({ code, status, detail }) => ({
  code,
  status,
  meaning: detail
}))
const declared = [...sources.flatMap(definitionsIn), ...ofHttp].sort((a, b) => (a.code < b.code ? -1 : 1))

const ROW = /^\| `(\w+)` \| (\d+) \| (.*) \| (.*) \|$/gm
const rowsOf = (text: string) =>
  [...text.matchAll(ROW)].map(([, code = '', status, meaning = '', advice = '']) => ({
    code,
    status: Number(status),
    meaning,
    advice
  }))

test('docs/errors.md lists every error with its status and meaning, and keeps the advice written by hand', () =>
  expectPage('errors.md', present => {
    const advice = new Map(rowsOf(present).map(row => [row.code, row.advice]))
    const rows = declared.map(({ code, status, meaning }) => [
      `\`${code}\``,
      String(status),
      meaning,
      advice.get(code) ?? ''
    ])
    return tableOf(['code', 'status', 'meaning', 'what to do'], rows)
  }))

test('docs/errors.md says for every error what to do about it', async () => {
  const silent = rowsOf(await readFile(page, 'utf8')).filter(({ advice }) => advice.trim() === '')
  expect(silent.map(({ code }) => code)).toEqual([])
})

test('every error code is unique and in capitals, and its kind has an HTTP status', () => {
  const codes = declared.map(({ code }) => code)
  expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([])
  for (const { code, status, meaning } of declared) {
    expect(code).toMatch(/^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/)
    expect(status, code).toBeGreaterThanOrEqual(400)
    expect(meaning, code).toMatch(/^[A-Z"`].*[.!]$/)
    expect(meaning, code).not.toContain('|')
  }
})
