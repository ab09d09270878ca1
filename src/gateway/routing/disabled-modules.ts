import { ownerOf, pathOf } from './routes.ts'

type Switchable = { name: string; basePaths: readonly string[]; enabled: boolean }

/**
 * What is answered in the place of modules that are switched off (specification, "Disabled-module catch-all"): for a
 * request target at or below one of their base paths the body of the 503, else `undefined`. A deeper base path of
 * another module belongs to that module.
 */
export function disabledModuleAnswers(modules: readonly Switchable[]) {
  const disabled = modules.filter(module => !module.enabled)
  const answers = new Map(disabled.map(({ name }) => [name, { error: explanation(name) }]))

  return (target: string): { error: string } | undefined =>
    answers.size === 0 ? undefined : answers.get(ownerOf(pathOf(target), modules) ?? '')
}

const explanation = (name: string) =>
  `module ${name} is disabled; enable it in the configuration file under modules.${name}.enabled: true`
