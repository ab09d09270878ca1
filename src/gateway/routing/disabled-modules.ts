import { createModuleByPathLookup, requestPath } from './routes.ts'

export type SwitchableModule = { name: string; basePaths: readonly string[]; enabled: boolean }
type ModuleWithParts = SwitchableModule & { parts?: readonly SwitchableModule[] }

/**
 * Creates a function that returns the body of the 503 for request targets of disabled modules or parts, else `undefined`.
 * A target is at or below a base path (specification, "Disabled-module catch-all"). The longest matching base path names
 * the module.
 */
export function createDisabledModuleCheck(modules: readonly ModuleWithParts[]) {
  const disabled = modules
    .flatMap(module => [module, ...(module.parts ?? [])])
    .filter(({ enabled }) => !enabled)
  const ownerOf = createModuleByPathLookup(disabled)
  const answers = new Map(disabled.map(({ name }) => [name, { error: explanation(name) }]))

  return (target: string): { error: string } | undefined =>
    answers.size === 0 ? undefined : answers.get(ownerOf(requestPath(target)) ?? '')
}

const explanation = (name: string) =>
  `module ${name} is disabled; enable it in the configuration file under modules.${name}.enabled: true`
