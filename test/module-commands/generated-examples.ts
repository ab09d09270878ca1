import * as cartwright from '../../src/index.ts'
import type { PublicExport } from '../support/public-exports.ts'

const WIDTH_MAX = 100
const FAMILY = /^(\w+)(Event|Module|Api|Port|Resource)$/

/** Whether the export belongs to a family whose examples have the same form: events, modules and their APIs, ports, resources. */
export const hasGeneratedExample = ({ entry, name, example, kind }: PublicExport): boolean =>
  entry === 'cartwright' &&
  example === undefined &&
  FAMILY.test(name) &&
  (kind === 'type') === /Api$/.test(name)

/** Returns the example of an export of a family, made from its declaration. */
export function generatedExample({ name }: PublicExport): string {
  const [, noun = '', family] = FAMILY.exec(name) ?? []
  const declared: unknown = (cartwright as Readonly<Record<string, unknown>>)[name]
  if (family === 'Event') return exampleOfEvent(name, declared as cartwright.EventType)
  if (family === 'Port') return exampleOfPort(name, declared as cartwright.Port)
  if (family === 'Resource') return exampleOfResource(name, declared as cartwright.Resource)
  if (family === 'Module') return exampleOfModule(noun, name)
  return exampleOfApi(noun.toLowerCase(), name)
}

function exampleOfEvent(name: string, { name: event, payload }: cartwright.EventType): string {
  const { properties } = payload as unknown as { readonly properties: object }
  let fields = ''
  for (const field of Object.keys(properties))
    if (`${fields}, payload.${field}`.length < WIDTH_MAX - 40) fields += `${fields && ', '}payload.${field}`
  return [
    `const handle: EventHandler<PayloadOf<typeof ${name}>> = async (_tx, events) => {`,
    `  for (const { payload } of events) console.log(${fields})`,
    '}',
    `const eventHandlers = { '${event}': handle }`,
    `assert.ok(${name}.name in eventHandlers)`
  ].join('\n')
}

const exampleOfModule = (noun: string, name: string): string =>
  [
    `const declaration = { requires: { ${noun}: ${name} }, uses: {} }`,
    `assert.equal(declaration.requires.${noun}.name, '${noun}')`
  ].join('\n')

const exampleOfApi = (noun: string, name: string): string =>
  [
    `// of a module that declares: requires: { ${noun}: ${noun}Module }`,
    `type Apis = { ${noun}: ${name} }`
  ].join('\n')

const exampleOfPort = (name: string, { name: port }: cartwright.Port): string =>
  [
    `const declaration = { provides: [${name}] }`,
    `assert.equal(declaration.provides[0]?.name, '${port}')`
  ].join('\n')

const exampleOfResource = (name: string, { audiences: [audience] }: cartwright.Resource): string =>
  [
    `const schema = Type.String({ maxLength: 20 })`,
    `const colorField = extendResource(${name}, { field: 'color', audience: '${audience}', ${audience === 'public' ? "purgedBy: 'expiry', " : ''}schema })`,
    `assert.equal(colorField.resource, ${name})`
  ].join('\n')
