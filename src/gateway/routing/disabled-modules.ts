import { ownersOf, pathOf } from './routes.ts'

export type Switchable = { name: string; basePaths: readonly string[]; enabled: boolean }
type Module = Switchable & { parts?: readonly Switchable[] }

/**
 * What is answered in the place of modules, and parts of modules, that are switched off (specification,
 * "Disabled-module catch-all"): for a request target at or below one of their base paths the body of the 503, whoever
 * mounts routes there, else `undefined`. Where several are, the deepest base path names what is missing.
 */
export function disabledModuleAnswers(modules: readonly Module[]) {
  const disabled = modules
    .flatMap(module => [module, ...(module.parts ?? [])])
    .filter(({ enabled }) => !enabled)
  const ownerOf = ownersOf(disabled)
  const answers = new Map(disabled.map(({ name }) => [name, { error: explanation(name) }]))

  return (target: string): { error: string } | undefined =>
    answers.size === 0 ? undefined : answers.get(ownerOf(pathOf(target)) ?? '')
}

const explanation = (name: string) =>
  `module ${name} is disabled; enable it in the configuration file under modules.${name}.enabled: true`
