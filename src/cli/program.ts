import { Command, InvalidArgumentError, Option } from 'commander'
import { version } from '../version.ts'
import { type CommandLineProgram, cartwrightCommandLineProgram } from './options.ts'

const WORKERS_MAX = 64
const JSON_OPTION = ['--json', 'print JSON', false] as const

/** Declares all commands, each with an example in its help. */
export function createCliProgram({
  loadModules,
  name,
  afterHelp
}: CommandLineProgram = cartwrightCommandLineProgram): Command {
  const example = (line: string) => `\nExample:\n  ${name} ${line}`
  const program = new Command(name)
    .description('A headless commerce engine.')
    .version(version)
    .addHelpText('after', afterHelp)
  program
    .command('start')
    .description('start the shop (the default command)')
    .option('--workers <n>', 'processes that share the port and the limits', parseWorkers, 1)
    .addHelpText('after', example('start --workers 2'))
    .action(async ({ workers }) => (await import('./start.ts')).startShop(loadModules, workers))
  program
    .command('migrate')
    .description('apply pending migrations, then exit')
    .option('--dry-run', 'list pending migrations without applying them', false)
    .option(...JSON_OPTION)
    .addHelpText('after', example('migrate --dry-run'))
    .action(async options => (await import('./migrate.ts')).runMigrations(await loadModules(), options))
  program
    .command('doctor')
    .description('check the configuration and everything the shop depends on, and report problems')
    .option(...JSON_OPTION)
    .addHelpText('after', example('doctor'))
    .action(async options => (await import('./doctor/doctor.ts')).runDiagnoses(await loadModules(), options))
  program
    .command('modules')
    .description('list modules, whether they are enabled, and what they require')
    .option(...JSON_OPTION)
    .addHelpText('after', example('modules'))
    .action(async options => (await import('./modules.ts')).printModuleList(await loadModules(), options))
  program
    .command('routes')
    .description('list the routes of the enabled modules')
    .option('--module <name>', 'list the routes of one module only')
    .option(...JSON_OPTION)
    .addHelpText('after', example('routes --module cart'))
    .action(async options => (await import('./routes.ts')).printRoutes(await loadModules(), options))
  program
    .command('openapi')
    .description('print the OpenAPI document of the enabled modules')
    .addHelpText('after', example('openapi > openapi.json'))
    .action(async () => (await import('./routes.ts')).printOpenApi(await loadModules()))
  const config = program
    .command('config')
    .description('check or print the configuration')
    .addHelpText('after', example('config check'))
  config
    .command('check')
    .description(
      'check all keys and values of the configuration and report every problem; doctor checks more'
    )
    .option(...JSON_OPTION)
    .addHelpText('after', example('config check'))
    .action(async options => (await import('./config.ts')).checkConfig(await loadModules(), options))
  config
    .command('print')
    .description('print the effective configuration (defaults, file and environment) without secrets')
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
    .description('write a consistent backup of the database to a file while the shop runs')
    .argument('<file>', 'file to create, such as shop.backup')
    .option(...JSON_OPTION)
    .addHelpText('after', example('backup shop.backup'))
    .action(async (file, options) =>
      (await import('./backup.ts')).writeBackup(await loadModules(), file, options)
    )
  program
    .command('restore')
    .description('restore a backup into an empty database')
    .argument('<file>', 'file that "backup" created')
    .option(...JSON_OPTION)
    .addHelpText('after', example('restore shop.backup'))
    .action(async (file, options) =>
      (await import('./backup.ts')).restoreBackup(await loadModules(), file, options)
    )
  program
    .command('seed')
    .description('load the demo catalog into a shop without products')
    .option(...JSON_OPTION)
    .addHelpText('after', example('seed'))
    .action(async options => (await import('./seed.ts')).seedDemoCatalog(await loadModules(), options))
  program
    .command('import')
    .description("import products from a CSV file in Shopify's format")
    .argument('<file>', 'the CSV file')
    .addOption(
      new Option('--mode <mode>', 'whether the other products are imported when one is invalid')
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
    .description('export products, orders or stock to CSV files')
    .addHelpText('after', example('export products products.csv'))
  const file = ['<file>', 'file to create; - for standard output'] as const
  files
    .command('products')
    .description(`export all products in Shopify's format, which "import" reads`)
    .argument(...file)
    .option('--stock', 'include stock quantities; importing the file resets the stock to them', false)
    .option(...JSON_OPTION)
    .addHelpText('after', example('export products products.csv'))
    .action(async (path, options) =>
      (await import('./export.ts')).exportProductsToFile(await loadModules(), path, options)
    )
  files
    .command('orders')
    .description('export orders, one row each, newest first')
    .argument(...file)
    .addOption(
      new Option('--status <status>', 'only orders with this status').choices([
        'pending',
        'paid',
        'shipped',
        'completed',
        'canceled'
      ])
    )
    .option('--from <instant>', 'only orders created at this time or later; a date means midnight UTC')
    .option('--to <instant>', 'only orders created before this time')
    .addOption(
      new Option('--rows <kind>', 'what each row holds: an order, a line, or a tax rate of an order').choices(
        ['orders', 'lines', 'taxes']
      )
    )
    .option(...JSON_OPTION)
    .addHelpText('after', example('export orders orders.csv --from 2026-11-01 --to 2026-12-01'))
    .action(async (path, options) =>
      (await import('./export.ts')).exportOrdersToFile(await loadModules(), path, options)
    )
  files
    .command('stock')
    .description('export stock, one row per variant and location')
    .argument(...file)
    .option(...JSON_OPTION)
    .addHelpText('after', example('export stock stock.csv'))
    .action(async (path, options) =>
      (await import('./export.ts')).exportStockToFile(await loadModules(), path, options)
    )
  const inventory = program
    .command('inventory')
    .description('check stock records')
    .addHelpText('after', example('inventory check'))
  inventory
    .command('check')
    .description('compare levels, movements and reservations and list every discrepancy')
    .option('--repair', 'repair discrepancies where possible, while the shop sells', false)
    .option(...JSON_OPTION)
    .addHelpText('after', example('inventory check --repair'))
    .action(async options => (await import('./inventory.ts')).checkStockLedger(await loadModules(), options))
  const payments = program
    .command('payments')
    .description('compare payments with payment providers')
    .addHelpText('after', example('payments reconcile --since 2026-11-22'))
  payments
    .command('reconcile')
    .description(
      'list payments and refunds at providers that are missing in the database, for example after a restore'
    )
    .requiredOption(
      '--since <instant>',
      'start of the period, such as 2026-11-22T07:00:00Z; a date means midnight UTC'
    )
    .option('--record', 'record the missing objects; without this option nothing is changed', false)
    .option(...JSON_OPTION)
    .addHelpText('after', example('payments reconcile --since 2026-11-22T07:00:00Z --record'))
    .action(async options => (await import('./payments.ts')).reconcilePayments(await loadModules(), options))
  program
    .command('chaos')
    .description(
      'inject faults into test shops under load and verify orders and money (in a source checkout only)'
    )
    .option('--minutes <n>', 'minutes per shop', '5')
    .option('--processes <n,…>', 'numbers of processes; one shop runs for each', '1,3')
    .option('--seed <n>', 'seed of the random sequence; the report prints the seed')
    .option('--only <text>', 'inject only faults whose name contains this text', '')
    .option('--settled <seconds>', 'seconds after the last fault within which the shop must settle', '60')
    .option(...JSON_OPTION)
    .addHelpText('after', example('chaos --minutes 1 --processes 3 --seed 42'))
    .action(async options => (await import('./chaos.ts')).runChaos(options))
  const user = program
    .command('user')
    .description('manage accounts')
    .addHelpText('after', example('user create --email you@shop.com --admin'))
  user
    .command('create')
    .description('create an account; the password is read from the terminal, or generated and printed')
    .requiredOption('--email <address>', 'e-mail address')
    .option('--name <name>', 'name')
    .option('--admin', 'create an administrator', false)
    .option(...JSON_OPTION)
    .addHelpText('after', example('user create --email you@shop.com --admin'))
    .action(async options =>
      (await import('./user.ts')).createUserFromCommandLine(await loadModules(), options)
    )
  user
    .command('disable')
    .description('disable an account and end its sessions within a second')
    .requiredOption('--email <address>', 'e-mail address')
    .option(...JSON_OPTION)
    .addHelpText('after', example('user disable --email ada@example.com'))
    .action(async options =>
      (await import('./user.ts')).setUserDisabledByEmail(await loadModules(), options, true)
    )
  user
    .command('enable')
    .description('enable a disabled account')
    .requiredOption('--email <address>', 'e-mail address')
    .option(...JSON_OPTION)
    .addHelpText('after', example('user enable --email ada@example.com'))
    .action(async options =>
      (await import('./user.ts')).setUserDisabledByEmail(await loadModules(), options, false)
    )
  user
    .command('role')
    .description('change the role of an account, from its next request on')
    .requiredOption('--email <address>', 'e-mail address')
    .addOption(new Option('--role <role>', 'the role').choices(['customer', 'admin']).makeOptionMandatory())
    .option('--scopes <modules>', 'modules that the administrator can manage, such as catalog,inventory')
    .option(...JSON_OPTION)
    .addHelpText('after', example('user role --email ada@example.com --role admin'))
    .action(async options => (await import('./user.ts')).setUserRoleByEmail(await loadModules(), options))
  user
    .command('reset-second-factor')
    .description('remove the second factor of an account whose device and recovery codes are lost')
    .requiredOption('--email <address>', 'e-mail address')
    .option(...JSON_OPTION)
    .addHelpText('after', example('user reset-second-factor --email ada@example.com'))
    .action(async options =>
      (await import('./user.ts')).resetSecondFactorByEmail(await loadModules(), options)
    )
  pointAtHelp(program, name)
  return program
}

function parseWorkers(text: string): number {
  const workers = Number(text)
  if (Number.isInteger(workers) && workers >= 1 && workers <= WORKERS_MAX) return workers
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${WORKERS_MAX}.`)
}

/** Makes every usage error point to the help of its command. */
function pointAtHelp(command: Command, words: string): void {
  command.showHelpAfterError(`See "${words} --help".`)
  for (const each of command.commands) pointAtHelp(each, `${words} ${each.name()}`)
}
