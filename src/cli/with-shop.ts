import { setupShop } from '../app.ts'
import { type Config, loadConfig } from '../config.ts'
import { DomainError, OperatorError } from '../kernel/errors.ts'
import { type Module, type ModuleWith, migrationSources } from '../module.ts'
import { openLog } from '../platform/log.ts'
import { openPlatform } from '../platform/platform.ts'
import { migrate } from '../platform/postgres/migrate.ts'
import { openConfiguredDatabase } from './database.ts'

type CommandShop = {
  config: Config
  /** The API of a module. @throws OperatorError when it is disabled. */
  apiOf<Api>(module: ModuleWith<Api>): Api
}
type UpToDate = { config: Config; databaseUrl: string; applied: readonly string[] }

/** A command on the shop's database, brought up to date; a running server may be using it at the same time. */
export async function withDatabase<T>(
  modules: readonly Module[],
  work: (upToDate: UpToDate) => Promise<T>
): Promise<T> {
  const config = loadConfig(modules)
  const database = await openConfiguredDatabase(config, 'attach')
  try {
    const applied = await migrate(database.url, migrationSources(modules))
    return await work({ config, databaseUrl: database.url, applied })
  } finally {
    await database.stop()
  }
}

/**
 * A command on the shop without its gateway: the modules are set up, and stopped behind it. What the domain refuses
 * is the operator's to mend.
 */
export const withShop = <T>(
  modules: readonly Module[],
  work: (shop: CommandShop) => Promise<T>
): Promise<T> =>
  withDatabase(modules, async ({ config, databaseUrl }) => {
    const platform = await openPlatform(config, databaseUrl, openLog({ level: quietLevel(config) }))
    try {
      const { apiOf, stop } = await setupShop(platform, modules)
      const enabled = <Api>(module: ModuleWith<Api>): Api => apiOf(module) ?? refuse(module.name)
      return await work({ config, apiOf: enabled }).catch(explain).finally(stop)
    } finally {
      await platform.close()
    }
  })

/** Standard output belongs to what the command says. */
const quietLevel = ({ log }: Config) => (log.level === 'info' || log.level === 'debug' ? 'warn' : log.level)

function refuse(name: string): never {
  throw new OperatorError(`The module ${name} is disabled (modules.${name}.enabled).`)
}

function explain(error: unknown): never {
  if (!(error instanceof DomainError)) throw error
  const { reason } = error.details
  throw new OperatorError(reason === undefined ? error.message : `${error.message} (${reason})`)
}
