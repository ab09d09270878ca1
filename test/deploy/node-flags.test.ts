import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const FLAG = /--[a-z-]+(?:=\d+)?/g
const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const flagsOf = (path: string, line: RegExp) => line.exec(textOf(path))?.[0].match(FLAG) ?? []

test.each([
  ['deploy/image/Dockerfile', /^ENTRYPOINT .*/m],
  ['deploy/systemd/cartwright@.service', /^ExecStart=.*/m],
  ['docs/deploying.md', /^MALLOC.* node --.*main\.mjs start$/m]
])('%s starts Node with all flags and the memory settings of npm start', (path, line) => {
  const flags = flagsOf('tools/node.sh', /^START_FLAGS=.*/m)
  expect(flags).toContain('--no-memory-reducer')
  expect(flagsOf(path, line)).toEqual(expect.arrayContaining(flags))
  const [, bytes] = /^export MALLOC_MMAP_THRESHOLD_=.*:-(\d+)\}"$/m.exec(textOf('tools/program.sh')) ?? []
  expect(textOf(path)).toMatch(new RegExp(`^(?!#).*\\bMALLOC_MMAP_THRESHOLD_=${bytes}\\b`, 'm'))
})
