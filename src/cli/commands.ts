import { Command, Option } from 'commander'
import { OperatorError } from '../kernel/errors.ts'
import { version } from '../version.ts'

/**
 * The command line. Each command is one file beside this one, loaded when it is called. What the operator can mend
 * is one sentence and exit code 1; a stack trace means a bug.
 */
export async function runCommand(argv: readonly string[]): Promise<void> {
  const program = new Command('cartwright').description('A headless commerce engine.').version(version)
  program
    .command('start')
    .description('run the shop; this is done when no command is named')
    .action(async () => (await import('./start.ts')).start())
  program
    .command('migrate')
    .description('bring the database up to date, and stop')
    .action(async () => (await import('./migrate.ts')).runMigrations())
  program
    .command('import')
    .description('import a product CSV in the format of Shopify')
    .argument('<file>', 'the CSV file')
    .addOption(
      new Option('--mode <mode>', 'what a faulty product does to the others')
        .choices(['best_effort', 'all_or_nothing'])
        .default('best_effort')
    )
    .action(async (file, options) => (await import('./import.ts')).importProducts(file, options))
  const user = program.command('user').description('manage accounts')
  user
    .command('create')
    .description('make an account; the password is read from the terminal, or made up and printed')
    .requiredOption('--email <address>', 'e-mail address')
    .option('--name <name>', 'name')
    .option('--admin', 'give it the role admin', false)
    .action(async options => (await import('./user.ts')).createUser(options))
  user
    .command('disable')
    .description('keep somebody out: every session of theirs ends, everywhere within a second')
    .requiredOption('--email <address>', 'e-mail address')
    .action(async ({ email }) => (await import('./user.ts')).setUserDisabled(email, true))
  user
    .command('enable')
    .description('let somebody in again who was disabled')
    .requiredOption('--email <address>', 'e-mail address')
    .action(async ({ email }) => (await import('./user.ts')).setUserDisabled(email, false))
  user
    .command('role')
    .description('give somebody another role, from their next request on')
    .requiredOption('--email <address>', 'e-mail address')
    .addOption(new Option('--role <role>', 'the role').choices(['customer', 'admin']).makeOptionMandatory())
    .action(async ({ email, role }) => (await import('./user.ts')).setUserRole(email, role))
  try {
    await program.parseAsync(argv.length > 2 ? argv : [...argv, 'start'])
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}
