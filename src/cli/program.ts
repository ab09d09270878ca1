import { Command, Option } from 'commander'
import { version } from '../version.ts'
import { ours, type ProgramOptions } from './options.ts'

const JSON_OPTION = ['--json', 'print JSON, for programs', false] as const

/** All commands there are, with an example of each. */
export function createProgram({ loadModules, name, afterHelp }: ProgramOptions = ours): Command {
  const example = (line: string) => `\nExample:\n  ${name} ${line}`
  const program = new Command(name)
    .description('A headless commerce engine.')
    .version(version)
    .addHelpText('after', afterHelp)
  program
    .command('start')
    .description('run the shop; this is done when no command is named')
    .addHelpText('after', example('start'))
    .action(async () => (await import('./start.ts')).start(loadModules))
  program
    .command('migrate')
    .description('bring the database up to date, and stop')
    .option('--dry-run', 'only list what would be applied', false)
    .option(...JSON_OPTION)
    .addHelpText('after', example('migrate --dry-run'))
    .action(async options => (await import('./migrate.ts')).runMigrations(await loadModules(), options))
  program
    .command('doctor')
    .description('ask all that a shop needs whether it is as it should be, and say what is wrong')
    .option(...JSON_OPTION)
    .addHelpText('after', example('doctor'))
    .action(async options => (await import('./doctor/doctor.ts')).examine(await loadModules(), options))
  program
    .command('modules')
    .description('list the modules: which are on, and what they need')
    .option(...JSON_OPTION)
    .addHelpText('after', example('modules'))
    .action(async options => (await import('./modules.ts')).listModules(await loadModules(), options))
  program
    .command('routes')
    .description('list the routes of the modules that are on')
    .option('--module <name>', 'only those of one module')
    .option(...JSON_OPTION)
    .addHelpText('after', example('routes --module cart'))
    .action(async options => (await import('./routes.ts')).listRoutes(await loadModules(), options))
  program
    .command('openapi')
    .description('print the OpenAPI document of the modules that are on')
    .addHelpText('after', example('openapi > openapi.json'))
    .action(async () => (await import('./routes.ts')).printOpenApi(await loadModules()))
  const config = program
    .command('config')
    .description('look at the configuration')
    .addHelpText('after', example('config check'))
  config
    .command('check')
    .description(
      'say whether every key is known and every value right, and else all that is wrong; doctor asks for more'
    )
    .option(...JSON_OPTION)
    .addHelpText('after', example('config check'))
    .action(async options => (await import('./config.ts')).checkConfig(await loadModules(), options))
  config
    .command('print')
    .description('print it as it counts: file and environment over the defaults, without secrets')
    .option(...JSON_OPTION)
    .addHelpText('after', example('config print'))
    .action(async options => (await import('./config.ts')).printConfig(await loadModules(), options))
  config
    .command('schema')
    .description('print the JSON Schema of config.yaml, for editors')
    .addHelpText('after', example('config schema > config.schema.json'))
    .action(async () => (await import('./config.ts')).printConfigSchema(await loadModules()))
  program
    .command('backup')
    .description('write the database into a file, as it is at one moment, while the shop goes on')
    .argument('<file>', 'the file to make, such as shop.backup')
    .option(...JSON_OPTION)
    .addHelpText('after', example('backup shop.backup'))
    .action(async (file, options) =>
      (await import('./backup.ts')).writeBackup(await loadModules(), file, options)
    )
  program
    .command('restore')
    .description('fill an empty database with what a backup holds')
    .argument('<file>', 'what "backup" has written')
    .option(...JSON_OPTION)
    .addHelpText('after', example('restore shop.backup'))
    .action(async (file, options) =>
      (await import('./backup.ts')).restoreBackup(await loadModules(), file, options)
    )
  program
    .command('seed')
    .description('load the demo catalog into a shop that sells nothing yet')
    .option(...JSON_OPTION)
    .addHelpText('after', example('seed'))
    .action(async options => (await import('./seed.ts')).seed(await loadModules(), options))
  program
    .command('import')
    .description('import a product CSV in the format of Shopify')
    .argument('<file>', 'the CSV file')
    .addOption(
      new Option('--mode <mode>', 'what a faulty product does to the others')
        .choices(['best_effort', 'all_or_nothing'])
        .default('best_effort')
    )
    .option(...JSON_OPTION)
    .addHelpText('after', example('import products.csv --mode all_or_nothing'))
    .action(async (file, options) =>
      (await import('./import.ts')).importProducts(await loadModules(), file, options)
    )
  const files = program
    .command('export')
    .description('write what the shop has into CSV files')
    .addHelpText('after', example('export products products.csv'))
  const file = ['<file>', 'the file to make; - for standard output'] as const
  files
    .command('products')
    .description('all products, in the format of Shopify, which "import" reads')
    .argument(...file)
    .option('--stock', 'with what is counted: an import takes the stock back to what it was', false)
    .option(...JSON_OPTION)
    .addHelpText('after', example('export products products.csv'))
    .action(async (path, options) =>
      (await import('./export.ts')).exportProducts(await loadModules(), path, options)
    )
  files
    .command('orders')
    .description('a row for each order, the newest first')
    .argument(...file)
    .addOption(
      new Option('--status <status>', 'only those').choices([
        'pending',
        'paid',
        'shipped',
        'completed',
        'canceled'
      ])
    )
    .option('--from <instant>', 'made at this time or later; a day begins at midnight UTC')
    .option('--to <instant>', 'made before this time')
    .addOption(
      new Option('--rows <kind>', 'what a row is: an order, a line, or a tax rate of an order').choices([
        'orders',
        'lines',
        'taxes'
      ])
    )
    .option(...JSON_OPTION)
    .addHelpText('after', example('export orders orders.csv --from 2026-11-01 --to 2026-12-01'))
    .action(async (path, options) =>
      (await import('./export.ts')).exportOrders(await loadModules(), path, options)
    )
  files
    .command('stock')
    .description('a row for each variant and location')
    .argument(...file)
    .option(...JSON_OPTION)
    .addHelpText('after', example('export stock stock.csv'))
    .action(async (path, options) =>
      (await import('./export.ts')).exportStock(await loadModules(), path, options)
    )
  const inventory = program
    .command('inventory')
    .description('look after the stock')
    .addHelpText('after', example('inventory check'))
  inventory
    .command('check')
    .description('compare levels, movements and reservations; a line for each contradiction')
    .option('--repair', 'put right what can be; sales go on meanwhile', false)
    .option(...JSON_OPTION)
    .addHelpText('after', example('inventory check --repair'))
    .action(async options => (await import('./inventory.ts')).checkInventory(await loadModules(), options))
  const payments = program
    .command('payments')
    .description('look after payments')
    .addHelpText('after', example('payments reconcile --since 2026-11-22'))
  payments
    .command('reconcile')
    .description(
      'list what providers have done and is not known here, as when the database lost its last commits'
    )
    .requiredOption(
      '--since <instant>',
      'from when on, such as 2026-11-22T07:00:00Z; a day begins at midnight UTC'
    )
    .option('--record', 'take over what is listed; without it, nothing is changed', false)
    .option(...JSON_OPTION)
    .addHelpText('after', example('payments reconcile --since 2026-11-22T07:00:00Z --record'))
    .action(async options => (await import('./payments.ts')).reconcilePayments(await loadModules(), options))
  program
    .command('chaos')
    .description(
      'harm shops of its own while people buy there, and judge whether orders and money are right; in a checkout only'
    )
    .option('--minutes <n>', 'how long, of each shop', '5')
    .option('--processes <n,…>', 'a shop for each of these numbers of processes', '1,3')
    .option('--seed <n>', 'what happens in which order; else at random, and said in the report')
    .option('--only <text>', 'harm with this in its name alone', '')
    .option('--settled <seconds>', 'how soon after the last harm all has to be settled', '60')
    .option(...JSON_OPTION)
    .addHelpText('after', example('chaos --minutes 1 --processes 3 --seed 42'))
    .action(async options => (await import('./chaos.ts')).harmShops(options))
  const user = program
    .command('user')
    .description('manage accounts')
    .addHelpText('after', example('user create --email you@shop.com --admin'))
  user
    .command('create')
    .description('make an account; the password is read from the terminal, or made up and printed')
    .requiredOption('--email <address>', 'e-mail address')
    .option('--name <name>', 'name')
    .option('--admin', 'give it the role admin', false)
    .option(...JSON_OPTION)
    .addHelpText('after', example('user create --email you@shop.com --admin'))
    .action(async options => (await import('./user.ts')).createUser(await loadModules(), options))
  user
    .command('disable')
    .description('keep somebody out: every session of theirs ends, everywhere within a second')
    .requiredOption('--email <address>', 'e-mail address')
    .option(...JSON_OPTION)
    .addHelpText('after', example('user disable --email ada@example.com'))
    .action(async options => (await import('./user.ts')).setUserDisabled(await loadModules(), options, true))
  user
    .command('enable')
    .description('let somebody in again who was disabled')
    .requiredOption('--email <address>', 'e-mail address')
    .option(...JSON_OPTION)
    .addHelpText('after', example('user enable --email ada@example.com'))
    .action(async options => (await import('./user.ts')).setUserDisabled(await loadModules(), options, false))
  user
    .command('role')
    .description('give somebody another role, from their next request on')
    .requiredOption('--email <address>', 'e-mail address')
    .addOption(new Option('--role <role>', 'the role').choices(['customer', 'admin']).makeOptionMandatory())
    .option(
      '--scopes <modules>',
      'the modules that an administrator may look after, such as catalog,inventory'
    )
    .option(...JSON_OPTION)
    .addHelpText('after', example('user role --email ada@example.com --role admin'))
    .action(async options => (await import('./user.ts')).setUserRole(await loadModules(), options))
  user
    .command('reset-second-factor')
    .description('remove the second factor of an account whose device and recovery codes are lost')
    .requiredOption('--email <address>', 'e-mail address')
    .option(...JSON_OPTION)
    .addHelpText('after', example('user reset-second-factor --email ada@example.com'))
    .action(async options => (await import('./user.ts')).resetSecondFactor(await loadModules(), options))
  pointAtHelp(program, name)
  return program
}

/** Whoever gets a command wrong is told where that very command is explained. */
function pointAtHelp(command: Command, words: string): void {
  command.showHelpAfterError(`See "${words} --help".`)
  for (const each of command.commands) pointAtHelp(each, `${words} ${each.name()}`)
}
