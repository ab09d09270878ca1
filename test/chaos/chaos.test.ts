import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCommandLine } from '../support/command.ts'
import { SOURCE, startProgram } from '../support/program.ts'

// Lane long: it takes a minute. Kills, races and journeys have tests of their own.

// The suite shares modules with the program that runs it, which a bundle has twice.

test('after any faults, orders and money match every acknowledged response', async () => {
  const line = 'chaos --minutes 0.08 --processes 1 --seed 4 --settled 150 --json'
  const { code, out, errors } = await runCommandLine(line.split(' '), { main: SOURCE })
  expect(code, errors + out).toBe(0)
  const [report] = JSON.parse(out).runs
  expect(report).toMatchObject({ processes: 1, seed: 4, broken: [] })
  expect(report.orders_requested).toBeGreaterThan(0)
}, 400_000)

test('an interrupted chaos run deletes everything it created, and reports that it judged nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'chaos-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  const args = ['chaos', '--minutes', '10', '--processes', '1', '--only', 'provider']
  const { child, output, ended } = startProgram({ TMPDIR: folder }, { main: SOURCE, args })
  onTestFinished(() => void child.kill('SIGKILL'))
  await expect.poll(() => output.stderr, { timeout: 60_000 }).toContain(' of 600 s: provider: ')
  expect(await readdir(folder)).not.toEqual([])
  child.kill('SIGTERM')
  const { code, stdout, stderr } = await ended
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/\nIt was stopped before its end: nothing was judged\.\n$/)
  expect(await readdir(folder)).toEqual([])
})
