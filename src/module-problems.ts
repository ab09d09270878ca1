import type { EventType } from './kernel/events.ts'
import type { Port } from './kernel/ports.ts'
import type { ResourceField } from './kernel/resources.ts'

type Named = {
  readonly name: string
  readonly emits?: readonly EventType[]
  readonly ports?: readonly Port[]
}
/** The parts of a module's declaration that decide whether modules can run together. */
export type ComposableModule = Named & {
  readonly basePaths: readonly string[]
  readonly switches?: Readonly<Record<string, { readonly basePaths: readonly string[] }>>
  readonly requires: Readonly<Record<string, Named>>
  readonly uses: Readonly<Record<string, Named>>
  readonly subscribes?: readonly EventType[]
  readonly provides?: readonly Port[]
  readonly extends?: readonly ResourceField[]
  readonly migrations?: URL
  readonly personalData?: true | string
}
type Switches = Readonly<Record<string, { readonly enabled: boolean }>>

/** Returns why these modules cannot run together, each reason with the setting to change. Empty when they can. */
export function findModuleProblems(modules: readonly ComposableModule[], switches: Switches): string[] {
  const isEnabled = ({ name }: Named) => switches[name]?.enabled === true
  const names = modules.map(({ name }) => name)
  const missing = modules.filter(isEnabled).flatMap(module =>
    Object.values(module.requires)
      .filter(required => !isEnabled(required))
      .map(required =>
        names.includes(required.name)
          ? `module ${module.name} requires module ${required.name}, which is disabled: ` +
            `set modules.${required.name}.enabled: true or modules.${module.name}.enabled: false`
          : `module ${module.name} requires module ${required.name}, which is not in the list of modules`
      )
  )
  const namesakes = names
    .filter((name, index) => names.indexOf(name) !== index)
    .map(name => `two modules are called ${name}`)
  const claims = modules.flatMap(module => module.basePaths.map(path => ({ path, module })))
  const clashes = claims
    .filter(({ path }, index) => claims.findIndex(other => other.path === path) !== index)
    .map(({ path, module }) => `base path ${path} is claimed twice, the second time by module ${module.name}`)
  const strays = modules.flatMap(({ name, basePaths, switches = {} }) =>
    Object.entries(switches).flatMap(([part, of]) =>
      of.basePaths
        .filter(path => !basePaths.some(base => `${path}/`.startsWith(`${base}/`)))
        .map(path => `switch ${part} covers ${path}, which is no path of its module ${name}`)
    )
  )
  const undeclared = modules
    .filter(({ migrations, personalData }) => migrations !== undefined && personalData === undefined)
    .map(
      ({ name }) =>
        `module ${name} has tables and declares nothing about personal data: declare personalData: true and return ` +
        'personalData from set-up, or declare the reason why there is nothing to erase and to export'
    )
  return [
    ...missing,
    ...namesakes,
    ...clashes,
    ...strays,
    ...undeclared,
    ...eventProblems(modules),
    ...portProblems(modules),
    ...fieldProblems(modules)
  ]
}

/** Returns events that two modules emit, and subscriptions without an emitter. A module that is required or used counts as one. */
function eventProblems(modules: readonly ComposableModule[]): string[] {
  const emitted = modules.flatMap(({ emits = [] }) => emits.map(({ name }) => name))
  const twice = new Set(emitted.filter((name, index) => emitted.indexOf(name) !== index))
  const withoutEmitter = modules.flatMap(({ name, subscribes = [], requires, uses }) => {
    const known = [...Object.values(requires), ...Object.values(uses)].flatMap(({ emits = [] }) => emits)
    return subscribes
      .filter(event => !emitted.includes(event.name) && !known.includes(event))
      .map(
        event =>
          `module ${name} subscribes to ${event.name}, which no module in the list emits: add the one that does, or name it in uses`
      )
  })
  return [...[...twice].map(name => `two modules emit ${name}`), ...withoutEmitter]
}

/** Returns ports without an owner, and ports not named after theirs. A module that is required or used counts as an owner. */
function portProblems(modules: readonly ComposableModule[]): string[] {
  const owned = modules.flatMap(({ ports = [] }) => ports)
  const strange = modules.flatMap(({ name, ports = [] }) =>
    ports
      .filter(port => !port.name.startsWith(`${name}.`))
      .map(port => `module ${name} owns the port ${port.name}, whose name must begin with "${name}."`)
  )
  const withoutOwner = modules.flatMap(({ name, provides = [], requires, uses }) => {
    const known = [...Object.values(requires), ...Object.values(uses)].flatMap(({ ports = [] }) => ports)
    return provides
      .filter(port => !owned.includes(port) && !known.includes(port))
      .map(
        port =>
          `module ${name} provides the port ${port.name}, which no module in the list owns: add the one that does, or name it in uses`
      )
  })
  return [...strange, ...withoutOwner]
}

const FIELD_NAME = /^[a-z][a-z0-9_]*$/

/** Returns fields whose names are no field names, belong to the resource, or to a field of another module. */
function fieldProblems(modules: readonly ComposableModule[]): string[] {
  const fields = modules.flatMap(({ name: module, extends: added = [] }) =>
    added.map(({ resource, field, audience }) => ({ module, resource, field, audience }))
  )
  return fields.flatMap(({ module, resource, field, audience }, index) => {
    const name = `${resource.name}.${field}`
    const earlier = fields.slice(0, index).find(each => each.resource === resource && each.field === field)
    const problems: [string, boolean][] = [
      [
        `module ${module} adds the field ${name}, whose name must consist of lower-case letters, digits and _`,
        !FIELD_NAME.test(field)
      ],
      [
        `module ${module} adds the field ${name}, which ${resource.name} has itself: choose another name`,
        resource.ownFields.has(field)
      ],
      [
        `module ${module} adds the field ${name}, which module ${earlier?.module} adds too: choose another name`,
        earlier !== undefined && (earlier.module !== module || earlier.audience === audience)
      ]
    ]
    return problems.filter(([, isTrue]) => isTrue).map(([problem]) => problem)
  })
}
