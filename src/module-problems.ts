import type { EventType } from './kernel/events.ts'

type Named = { readonly name: string; readonly emits?: readonly EventType[] }
/** What decides whether modules can run together. */
export type Composable = Named & {
  readonly basePaths: readonly string[]
  readonly switches?: Readonly<Record<string, { readonly basePaths: readonly string[] }>>
  readonly requires: Readonly<Record<string, Named>>
  readonly uses: Readonly<Record<string, Named>>
  readonly hears?: readonly EventType[]
  readonly migrations?: URL
  readonly keepsOfPeople?: true | string
}
type Switches = Readonly<Record<string, { readonly enabled: boolean }>>

/** Every reason why these modules cannot run together, each with the key to change; empty when they can. */
export function moduleProblems(modules: readonly Composable[], switches: Switches): string[] {
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
  const silent = modules
    .filter(({ migrations, keepsOfPeople }) => migrations !== undefined && keepsOfPeople === undefined)
    .map(
      ({ name }) =>
        `module ${name} has tables and does not say what it keeps of people: declare keepsOfPeople: true, and return people ` +
        'from its set-up, or declare why there is nothing to erase and to tell'
    )
  return [...missing, ...namesakes, ...clashes, ...strays, ...silent, ...eventProblems(modules)]
}

/** An event has one module that emits it: in the list, or one that the listening module requires or uses. */
function eventProblems(modules: readonly Composable[]): string[] {
  const emitted = modules.flatMap(({ emits = [] }) => emits.map(({ name }) => name))
  const twice = new Set(emitted.filter((name, index) => emitted.indexOf(name) !== index))
  const unheard = modules.flatMap(({ name, hears = [], requires, uses }) => {
    const known = [...Object.values(requires), ...Object.values(uses)].flatMap(({ emits = [] }) => emits)
    return hears
      .filter(heard => !emitted.includes(heard.name) && !known.includes(heard))
      .map(
        heard =>
          `module ${name} hears ${heard.name}, which no module in the list emits: add the one that does, or name it in uses`
      )
  })
  return [...[...twice].map(name => `two modules emit ${name}`), ...unheard]
}
