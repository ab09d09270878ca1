import type { TSchema } from './kernel/schema.ts'
import { booleanSetting, type SettingProblem, type SettingsOf, settingsSection } from './kernel/settings.ts'
import { CONFIG_FILE_DESCRIPTION, type Config, CoreSettings } from './platform/core-settings.ts'

/** The parts of a module's declaration that concern the configuration. */
export type ConfigurableModule = {
  readonly name: string
  /** The description of the module in the example configuration. */
  readonly description: string
  readonly settings?: TSchema
  /** Parts of the module that can be disabled separately. */
  readonly switches?: Readonly<Record<string, { readonly description: string }>>
  /** Short environment variables, each with the key of the settings that it sets. */
  readonly shortNames?: Readonly<Record<string, string>>
  /** See `Module`. */
  validate?(settings: never, config: Config): readonly SettingProblem[]
}

/** Builds the schema of the whole configuration. The example file and the checks at the start use it. */
export function configSchema(modules: readonly ConfigurableModule[]) {
  const taken = modules.find(({ name }) => Object.hasOwn({ ...CoreSettings.properties, modules: true }, name))
  if (taken !== undefined) throw new Error(`the module ${taken.name} has the name of another section`)
  const switches = modules.flatMap(({ name, description, switches: parts = {} }) => [
    [
      name,
      settingsSection(description, { enabled: booleanSetting('Whether the module is enabled.', true) })
    ] as const,
    ...Object.entries(parts).map(
      ([part, of]) =>
        [
          part,
          settingsSection(of.description, {
            enabled: booleanSetting(`Whether this part of the module ${name} is enabled.`, true)
          })
        ] as const
    )
  ])
  const twice = switches.find(([name], index) => switches.findIndex(([other]) => other === name) !== index)
  if (twice !== undefined) throw new Error(`two modules, or parts of them, are called ${twice[0]}`)
  const sections = modules.flatMap(({ name, settings }) => (settings ? [[name, settings]] : []))
  return settingsSection(CONFIG_FILE_DESCRIPTION, {
    ...CoreSettings.properties,
    modules: settingsSection(
      'Which modules are enabled. A disabled module answers 503 on all of its paths.',
      Object.fromEntries(switches)
    ),
    ...Object.fromEntries(sections)
  })
}

/** The type of the configuration with the settings of these modules, each under its module's name. */
export type ConfigOfModules<M extends ConfigurableModule> = Config & {
  readonly [X in M as X['name']]: SettingsOf<NonNullable<X['settings']>>
}

const SHORT_NAMES: Readonly<Record<string, string>> = {
  PORT: 'server.port',
  HOST: 'server.host',
  DATABASE_URL: 'database.url',
  REDIS_URL: 'cache.url',
  NODE_ENV: 'environment',
  CARTWRIGHT_DATA: 'data'
}

/** Returns the keys that short environment variables set. Hosting platforms expect some of these names, such as PORT. */
export const configKeysByShortVariable = (
  modules: readonly ConfigurableModule[]
): Readonly<Record<string, string>> => ({
  ...SHORT_NAMES,
  ...Object.fromEntries(
    modules.flatMap(({ name, shortNames: own = {} }) =>
      Object.entries(own).map(([variable, key]) => [variable, `${name}.${key}`])
    )
  )
})
