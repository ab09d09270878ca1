import { type DiagnosisCheck, okDiagnosisFinding } from './kernel/diagnosis.ts'
import type { Port, PortProvider, PortReader } from './kernel/ports.ts'
import type { LoadedModule, Module } from './module.ts'

type ProvidedBy = PortProvider & { readonly module: string }

/** Connects the ports of modules with their providers. */
export function createPortRegistry() {
  let providersOf: ReadonlyMap<Port, readonly PortProvider[]> | undefined

  return {
    /** Returns what a module reads its own ports with. */
    readerFor: ({ name, ports = [] }: Pick<Module, 'name' | 'ports'>): PortReader => {
      const all = <P>(port: Port<P>) => {
        if (!ports.includes(port)) throw new Error(`module ${name} does not declare the port ${port.name}`)
        if (providersOf === undefined)
          throw new Error(`module ${name} reads the port ${port.name} before all modules are set up`)
        return (providersOf.get(port) ?? []) as readonly PortProvider<P>[]
      }
      return { all, only: port => all(port)[0]?.provider }
    },
    /**
     * Makes the providers readable after all modules are set up. Returns why they do not fit the ports, each reason as a
     * sentence. Empty when they do.
     */
    connect: (loaded: readonly LoadedModule[]): string[] => {
      const provided = loaded.flatMap(({ module, instance }) =>
        (instance.provides ?? []).map((provider): ProvidedBy => ({ ...provider, module: module.name }))
      )
      providersOf = Map.groupBy(provided, ({ port }) => port)
      return [
        ...loaded.flatMap(findUndeclaredProviders),
        ...loaded.flatMap(({ module: { name, ports = [] } }) =>
          ports.flatMap(port =>
            findPortProblems(
              port,
              name,
              provided.filter(each => each.port === port)
            )
          )
        )
      ]
    }
  }
}

/** Checks nothing: tells operators which providers each port has. */
export const diagnosePorts = (loaded: readonly LoadedModule[]): DiagnosisCheck[] => {
  const provided = loaded.flatMap(({ instance }) => instance.provides ?? [])
  const lines = loaded.flatMap(({ module: { ports = [] } }) =>
    ports.map(port => {
      const names = provided.filter(each => each.port === port).map(({ name }) => name)
      return `${port.name}: ${names.join(', ') || 'no provider'}`
    })
  )
  return lines.length === 0 ? [] : [{ about: 'ports', find: () => okDiagnosisFinding(lines.join('; ')) }]
}

const findUndeclaredProviders = ({ module: { name, provides = [] }, instance }: LoadedModule): string[] =>
  (instance.provides ?? [])
    .filter(({ port }) => !provides.includes(port))
    .map(({ port }) => `module ${name} provides the port ${port.name} without declaring it in provides`)

function findPortProblems(port: Port, owner: string, provided: readonly ProvidedBy[]): string[] {
  const modules = [...new Set(provided.map(({ module }) => `module ${module}`))].join(' and ')
  if (port.isRequired && provided.length === 0)
    return [
      `module ${owner} needs a provider of the port ${port.name}, and no enabled module provides one: ${port.description}`
    ]
  if (port.providers === 'one' && provided.length > 1)
    return [`the port ${port.name} takes one provider and has ${provided.length}, of ${modules}`]
  return [...Map.groupBy(provided, ({ name }) => name)]
    .filter(([, namesakes]) => namesakes.length > 1)
    .map(
      ([name, namesakes]) =>
        `the port ${port.name} has two providers called ${name}: of module ${namesakes.map(({ module }) => module).join(' and of module ')}`
    )
}
