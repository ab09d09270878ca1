import { basename } from 'node:path'
import { Command, Option } from 'commander'
import { OperatorError } from '../kernel/errors.ts'
import type { Module } from '../module.ts'
import { version } from '../version.ts'

type ProgramOptions = {
  /** Loaded only when a command has started what may happen meanwhile. */
  loadModules: () => Promise<readonly Module[]>
  name: string
  afterHelp: string
}

const ours: ProgramOptions = {
  loadModules: async () => (await import('../app.ts')).modules,
  name: 'cartwright',
  afterHelp: `
In the folder of the project, write "npm run cartwright --" in the place of "cartwright":
  npm run cartwright -- help user create

Settings come from config.yaml and the environment; config.example.yaml lists them. Guides are in docs/README.md.`
}

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
  try {
    await createProgram(options).parseAsync(argv.length > 2 ? argv : [...argv, 'start'])
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}

/** All commands there are, with an example of each. */
export function createProgram({ loadModules, name, afterHelp }: ProgramOptions = ours): Command {
  const example = (line: string) => `\nExample:\n  ${name} ${line}`
  const program = new Command(name)
    .description('A headless commerce engine.')
    .version(version)
    .addHelpText('after', afterHelp)
    .showHelpAfterError(`See "${name} help".`)
  program
    .command('start')
    .description('run the shop; this is done when no command is named')
    .addHelpText('after', example('start'))
    .action(async () => (await import('./start.ts')).start(loadModules))
  program
    .command('migrate')
    .description('bring the database up to date, and stop')
    .addHelpText('after', example('migrate'))
    .action(async () => (await import('./migrate.ts')).runMigrations(await loadModules()))
  program
    .command('import')
    .description('import a product CSV in the format of Shopify')
    .argument('<file>', 'the CSV file')
    .addOption(
      new Option('--mode <mode>', 'what a faulty product does to the others')
        .choices(['best_effort', 'all_or_nothing'])
        .default('best_effort')
    )
    .addHelpText('after', example('import products.csv --mode all_or_nothing'))
    .action(async (file, options) =>
      (await import('./import.ts')).importProducts(await loadModules(), file, options)
    )
  const user = program.command('user').description('manage accounts')
  user
    .command('create')
    .description('make an account; the password is read from the terminal, or made up and printed')
    .requiredOption('--email <address>', 'e-mail address')
    .option('--name <name>', 'name')
    .option('--admin', 'give it the role admin', false)
    .addHelpText('after', example('user create --email you@shop.com --admin'))
    .action(async options => (await import('./user.ts')).createUser(await loadModules(), options))
  user
    .command('disable')
    .description('keep somebody out: every session of theirs ends, everywhere within a second')
    .requiredOption('--email <address>', 'e-mail address')
    .addHelpText('after', example('user disable --email ada@example.com'))
    .action(async ({ email }) =>
      (await import('./user.ts')).setUserDisabled(await loadModules(), email, true)
    )
  user
    .command('enable')
    .description('let somebody in again who was disabled')
    .requiredOption('--email <address>', 'e-mail address')
    .addHelpText('after', example('user enable --email ada@example.com'))
    .action(async ({ email }) =>
      (await import('./user.ts')).setUserDisabled(await loadModules(), email, false)
    )
  user
    .command('role')
    .description('give somebody another role, from their next request on')
    .requiredOption('--email <address>', 'e-mail address')
    .addOption(new Option('--role <role>', 'the role').choices(['customer', 'admin']).makeOptionMandatory())
    .addHelpText('after', example('user role --email ada@example.com --role admin'))
    .action(async ({ email, role }) =>
      (await import('./user.ts')).setUserRole(await loadModules(), email, role)
    )
  return program
}
