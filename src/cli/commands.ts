import { basename } from 'node:path'
import { OperatorError } from '../kernel/errors.ts'
import type { Module } from '../module.ts'
import { ours } from './options.ts'

/**
 * The command line of a shop with these modules: `node shop.ts start`, `migrate`, `import`, `user`, `help`. What the
 * operator can mend is one sentence and exit code 1.
 */
export const runCli = (modules: readonly Module[]): Promise<void> =>
  runCommand(process.argv, {
    loadModules: async () => modules,
    name: `node ${basename(process.argv[1] ?? '')}`,
    afterHelp: '\nSettings come from config.yaml and the environment.'
  })

/**
 * The command line. Each command is one file beside this one, loaded when it is called. What the operator can mend
 * is one sentence and exit code 1; a stack trace means a bug.
 */
export async function runCommand(argv: readonly string[], options = ours): Promise<void> {
  const [command = 'start', ...rest] = argv.slice(2)
  try {
    // The command that is waited for has nothing to parse, and what parses takes 20 ms to load (2026-11).
    if (command === 'start' && rest.length === 0)
      await (await import('./start.ts')).start(options.loadModules)
    else await (await import('./program.ts')).createProgram(options).parseAsync([...argv])
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}
