import { stringify } from 'yaml'
import { loadConfig, loadConfigWithoutModuleChecks, maskConfigSecrets } from '../config.ts'
import { configSchema } from '../config-schema.ts'
import type { Module } from '../module.ts'

/** Checks what the start checks before it opens a connection. @throws OperatorError that lists every problem. */
export function checkConfig(modules: readonly Module[], { json }: { json: boolean }): void {
  loadConfig(modules)
  process.stdout.write(json ? '{"ok":true}\n' : 'The configuration is valid.\n')
}

/** Prints the effective configuration: defaults, overridden by the file, overridden by the environment. Secrets are masked. */
export function printConfig(modules: readonly Module[], { json }: { json: boolean }): void {
  const shown = maskConfigSecrets(modules, loadConfigWithoutModuleChecks(modules))
  process.stdout.write(json ? `${JSON.stringify(shown)}\n` : stringify(shown))
}

/** Prints the JSON Schema of the configuration file, for editors. */
export function printConfigSchema(modules: readonly Module[]): void {
  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...configSchema(modules) }
  process.stdout.write(`${JSON.stringify(schema, null, 2)}\n`)
}
