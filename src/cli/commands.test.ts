import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from './program.ts'

/** Every command that does something, by its words. */
const leaves = (command: Command, words: readonly string[] = []): (readonly [string, Command])[] =>
  command.commands.length === 0
    ? [[words.join(' '), command]]
    : command.commands.flatMap(each => leaves(each, [...words, each.name()]))

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

test.each(leaves(createProgram()))(
  'the help of "%s" ends with an example that the command takes',
  async (words, command) => {
    const line = /\nExample:\n {2}cartwright (.*)\n$/.exec(helpOf(command))?.[1] ?? ''
    expect(line.startsWith(words)).toBe(true)
    let called = false
    const program = createProgram()
    for (const [, each] of leaves(program)) {
      each.exitOverride().action(() => {
        called = each.name() === command.name()
      })
    }
    // What stands behind ">" is for the shell.
    const [typed = ''] = line.split(' > ')
    await program.parseAsync(typed.split(' '), { from: 'user' })
    expect(called).toBe(true)
  }
)

test('the help of all commands says how to write them, and where to read on', () => {
  expect(helpOf(createProgram())).toContain('npm run cartwright -- help user create')
})
