import { stringify } from 'yaml'
import { loadConfig, withoutSecrets } from '../config.ts'
import { configSchema } from '../config-schema.ts'
import { OperatorError } from '../kernel/errors.ts'
import { type Module, moduleProblems } from '../module.ts'

/** Whether every key is known and every value right, and the modules fit together. @throws OperatorError that lists all that is wrong with it. */
export function checkConfig(modules: readonly Module[], { json }: { json: boolean }): void {
  const config = loadConfig(modules)
  const problems = moduleProblems(modules, config.modules)
  if (problems.length > 0)
    throw new OperatorError(`The modules do not fit together:\n  ${problems.join('\n  ')}`)
  process.stdout.write(json ? '{"ok":true}\n' : 'The configuration is right.\n')
}

/** The configuration as it counts: file and environment over every default. Secrets are not shown. */
export function printConfig(modules: readonly Module[], { json }: { json: boolean }): void {
  const shown = withoutSecrets(modules, loadConfig(modules))
  process.stdout.write(json ? `${JSON.stringify(shown)}\n` : stringify(shown))
}

/** The JSON Schema of the configuration file, for editors. */
export function printConfigSchema(modules: readonly Module[]): void {
  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...configSchema(modules) }
  process.stdout.write(`${JSON.stringify(schema, null, 2)}\n`)
}
