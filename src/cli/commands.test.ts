import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createCliProgram } from './program.ts'

/** Every command by its words, groups of commands included. */
const everyCommand = (command: Command, words: readonly string[] = []): (readonly [string, Command])[] =>
  command.commands.flatMap(each => {
    const all = [...words, each.name()]
    return [[all.join(' '), each] as const, ...everyCommand(each, all)]
  })

/** Commands that are not groups. */
const leaves = (program: Command) => everyCommand(program).filter(([, { commands }]) => commands.length === 0)

function helpOf(command: Command): string {
  let written = ''
  command.configureOutput({
    writeOut: text => {
      written += text
    }
  })
  command.outputHelp()
  return written
}

test.each(everyCommand(createCliProgram()))(
  'the help of the command "%s" ends with an example that the command accepts',
  async (words, command) => {
    const isGroup = command.commands.length > 0
    const line = /\nExample:\n {2}cartwright (.*)\n$/.exec(helpOf(command))?.[1] ?? ''
    expect(line.startsWith(words)).toBe(true)
    let called = false
    const program = createCliProgram()
    for (const [, each] of leaves(program)) {
      each.exitOverride().action(() => {
        called = isGroup || each.name() === command.name()
      })
    }
    // The shell handles what follows ">".
    const [typed = ''] = line.split(' > ')
    await program.parseAsync(typed.split(' '), { from: 'user' })
    expect(called).toBe(true)
  }
)

test('the general help says how to run commands and where the guides are', () => {
  expect(helpOf(createCliProgram())).toContain('npm run cartwright -- user create --help')
})

test('every command of the command line has --json, except those that run or print one document', () => {
  const without = leaves(createCliProgram()).filter(([, { options }]) =>
    options.every(each => each.long !== '--json')
  )
  expect(without.map(([words]) => words)).toEqual(['start', 'openapi', 'config schema'])
})

test.each(leaves(createCliProgram()).map(([words]) => words))(
  'the command "%s" rejects an unknown option and extra arguments with exit code 1',
  async words => {
    for (const rubbish of [['--nonsense'], ['a', 'b', 'c']]) {
      const program = createCliProgram()
      for (const [, each] of leaves(program))
        each
          .exitOverride()
          .configureOutput({ writeErr: () => {} })
          .action(() => {})
      const parsing = program.parseAsync([...words.split(' '), ...rubbish], { from: 'user' })
      await expect(parsing, rubbish.join(' ')).rejects.toMatchObject({ exitCode: 1 })
    }
  }
)
