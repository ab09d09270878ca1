import {
  openGatewayForShopModules,
  type ShopModules,
  type ShopWithGateway,
  setUpShopModules
} from '../app.ts'
import { type Config, loadConfig, loadConfigWithoutModuleChecks } from '../config.ts'
import { DomainError, OperatorError } from '../kernel/errors.ts'
import { type Module, type ModuleWithApi, migrationSources } from '../module.ts'
import { openLog } from '../platform/log.ts'
import { openPlatform } from '../platform/platform.ts'
import { migrate } from '../platform/postgres/migrate.ts'
import { openConfiguredDatabase } from './database.ts'

type CommandShop = {
  config: Config
  /** The API of a module. @throws OperatorError when it is disabled. */
  apiOf<Api>(module: ModuleWithApi<Api>): Api
}
type UpToDate = { config: Config; databaseUrl: string; applied: readonly string[] }

/** Runs a command on the database without migrating it. A server may use the database simultaneously. */
export async function runCommandWithoutMigrating<T>(
  modules: readonly Module[],
  work: (database: { config: Config; databaseUrl: string }) => Promise<T>,
  config: Config = loadConfigWithoutModuleChecks(modules)
): Promise<T> {
  const database = await openConfiguredDatabase(config, 'attach')
  try {
    return await work({ config, databaseUrl: database.url })
  } finally {
    await database.stop()
  }
}

/** Runs a command on the database after applying pending migrations. */
export const runCommandAfterMigrating = <T>(
  modules: readonly Module[],
  work: (upToDate: UpToDate) => Promise<T>,
  config?: Config
): Promise<T> =>
  runCommandWithoutMigrating(
    modules,
    async database => {
      const applied = await migrate(database.databaseUrl, migrationSources(modules))
      return await work({ ...database, applied })
    },
    config
  )

/**
 * Runs a command on the modules without a gateway: sets them up, and stops them afterwards. A DomainError becomes an
 * OperatorError, because the operator can fix its cause.
 */
export const withShopModulesForCommand = <T>(
  modules: readonly Module[],
  work: (shop: CommandShop) => Promise<T>
): Promise<T> =>
  withModules(modules, ({ platform, apiOf }) => {
    const enabled = <Api>(module: ModuleWithApi<Api>): Api => apiOf(module) ?? refuse(module.name)
    return work({ config: platform.config, apiOf: enabled }).catch(explain)
  })

/** Runs a command on the gateway of the shop, which does not listen. */
export const withShopGatewayForCommand = <T>(
  modules: readonly Module[],
  work: (app: ShopWithGateway) => Promise<T>
): Promise<T> =>
  withModules(modules, async shop => {
    const app = await openGatewayForShopModules(shop)
    return await work(app).finally(() => app.app.close())
  })

const withModules = async <T>(
  modules: readonly Module[],
  work: (shop: ShopModules) => Promise<T>
): Promise<T> => {
  const config = loadConfig(modules)
  // A running server may already listen on the diagnostics port.
  const ownOptions = { ...config, server: { ...config.server, diagnostics_port: 0 } }
  return runCommandAfterMigrating(
    modules,
    async ({ databaseUrl }) => {
      const platform = await openPlatform(ownOptions, databaseUrl, openLog({ level: quietLevel(ownOptions) }))
      try {
        const shop = await setUpShopModules(platform, modules)
        return await work(shop).finally(shop.stop)
      } finally {
        await platform.close()
      }
    },
    config
  )
}

/** Logs warnings and errors only, because standard output is for the result of the command. */
const quietLevel = ({ log }: Config) => (log.level === 'info' || log.level === 'debug' ? 'warn' : log.level)

function refuse(name: string): never {
  throw new OperatorError(`The module ${name} is disabled (modules.${name}.enabled).`)
}

function explain(error: unknown): never {
  if (!(error instanceof DomainError)) throw error
  const { reason } = error.details
  throw new OperatorError(reason === undefined ? error.message : `${error.message} (${reason})`)
}
