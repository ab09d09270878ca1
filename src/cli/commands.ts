import { basename } from 'node:path'
import { OperatorError } from '../kernel/errors.ts'
import type { Module } from '../module.ts'
import { cartwrightCommandLineProgram } from './options.ts'

/**
 * The command line of a shop with these modules: `node shop.ts start`, `migrate`, `import`, `user`, `help`. A problem that
 * the operator can fix is printed as one sentence, with exit code 1.
 * @example
 * // shop.ts, called as: node shop.ts config check
 * process.argv = ['node', 'shop.ts', 'config', 'check']
 * await runCli(standardModules)
 * assert.notEqual(process.exitCode, 1)
 */
export const runCli = (modules: readonly Module[]): Promise<void> =>
  runCommand(process.argv, {
    loadModules: async () => modules,
    name: `node ${basename(process.argv[1] ?? '')}`,
    afterHelp: '\nSettings come from config.yaml and the environment.'
  })

/**
 * Runs the command in `argv`. Each command is a file in this folder and is loaded on demand. A problem that the operator can
 * fix is printed as one sentence, with exit code 1; a stack trace means a bug.
 */
export async function runCommand(
  argv: readonly string[],
  options = cartwrightCommandLineProgram
): Promise<void> {
  const [command = 'start', ...rest] = argv.slice(2)
  try {
    // `start` without options skips the argument parser, because loading that takes 20 ms (2026-11).
    if (command === 'start' && rest.length === 0)
      await (await import('./start.ts')).startShop(options.loadModules)
    else await (await import('./program.ts')).createCliProgram(options).parseAsync([...argv])
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}
