import { expect, test } from 'vitest'
import { runCommandLine } from '../support/command.ts'

test('whatever happens, orders and money are as everybody was told', async () => {
  const line = 'chaos --minutes 0.13 --processes 1 --seed 4 --settled 150 --json'
  const { code, out, errors } = await runCommandLine(line.split(' '))
  expect(code, errors + out).toBe(0)
  const [report] = JSON.parse(out).runs
  expect(report).toMatchObject({ processes: 1, seed: 4, broken: [] })
  expect(report.wishes).toBeGreaterThan(0)
}, 240_000)
