import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import pg from 'pg'
import ts from 'typescript'

/** Public names by their kind. */
export type Surface = ReadonlyMap<string, ReadonlySet<string>>
export type Rename = readonly [before: string, now: string]
export type Difference = { kind: string; renamed: number; gone: string[]; added: string[] }

const CONTRACT = 'src/module.ts'
/** What set-up of a module gets and returns, which no module imports by name. */
const CONTRACT_TYPES = ['ModuleInstance', 'OwnPlatform', 'House']

/** Everything but the columns, which need a database. */
export function readSurface(root: string): Surface {
  const text = (path: string) => readFileSync(join(root, path), 'utf8')
  return new Map<string, ReadonlySet<string>>([
    ...apiNames(JSON.parse(text('openapi.json'))),
    ['events', new Set(eventNames(text('docs/events.md')))],
    ['settings', new Set(firstCells(text('docs/reference/settings.md')).map(([name = '']) => name))],
    ['metrics', new Set(metricNames(text('docs/reference/metrics.md')))],
    [
      'exports and members of their types',
      new Set([...exportsOf(root, 'src/index.ts', CONTRACT_TYPES), ...exportsOf(root, 'src/testing.ts')])
    ]
  ])
}

type Schema = { properties?: Record<string, Schema>; enum?: unknown[]; [key: string]: unknown }
type Operation = { operationId: string; parameters?: Record<string, string>[]; [key: string]: unknown }
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; parameters: Record<string, Record<string, string>> }
}

function apiNames({ paths, components }: Document): [string, Set<string>][] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      operation
    }))
  )
  const parameters = operations.flatMap(({ route, operation }) =>
    (operation.parameters ?? []).map(given => {
      const parameter = components.parameters[given.$ref?.split('/').at(-1) ?? ''] ?? given
      return `${route} ${parameter.in} ${parameter.name}`
    })
  )
  const inline = operations.flatMap(({ route, operation: { parameters: _, ...rest } }) =>
    fieldsOf(rest, route)
  )
  const ofComponents = Object.entries(components.schemas).flatMap(([name, schema]) => [
    name,
    ...fieldsOf(schema, name)
  ])
  return [
    ['paths', new Set(operations.map(({ route }) => route))],
    ['operation ids', new Set(operations.map(({ operation }) => operation.operationId))],
    ['parameters', new Set(parameters)],
    ['fields and values', new Set([...ofComponents, ...inline])]
  ]
}

/** Properties at any depth, and the values of enumerations. */
function fieldsOf(schema: unknown, path: string): string[] {
  if (Array.isArray(schema)) return schema.flatMap(each => fieldsOf(each, path))
  if (typeof schema !== 'object' || schema === null) return []
  const {
    properties = {},
    enum: values = [],
    example: _,
    examples: __,
    default: ___,
    ...rest
  } = schema as Schema
  return [
    ...Object.entries(properties).flatMap(([name, inner]) => [
      `${path}.${name}`,
      ...fieldsOf(inner, `${path}.${name}`)
    ]),
    ...(Array.isArray(values) ? values.map(value => `${path} = ${value}`) : []),
    ...Object.values(rest).flatMap(inner => fieldsOf(inner, path))
  ]
}

/** Events, and the fields of their payloads. */
function eventNames(page: string): string[] {
  let event = ''
  return page.split('\n').flatMap(line => {
    const [, heading] = /^## ([a-z_]+\.[a-z_]+)$/.exec(line) ?? []
    if (heading !== undefined) {
      event = heading
      return [event]
    }
    const [, field] = /^\s*\* `([^`]+)`:/.exec(line) ?? []
    return field === undefined || event === '' ? [] : [`${event}: ${field}`]
  })
}

const metricNames = (page: string): string[] =>
  firstCells(page).flatMap(([name = '', , labels = '']) => [
    name,
    ...labels
      .split(', ')
      .filter(Boolean)
      .map(label => `${name} ${label}`)
  ])

/** The cells of table rows whose first cell is a name. */
const firstCells = (page: string): string[][] =>
  page
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .map(line =>
      line
        .slice(2)
        .split(' | ')
        .map(cell => cell.replaceAll('`', '').trim())
    )

/** What a file exports, and the members of the types among it and of `others`, wherever those are declared. */
function exportsOf(root: string, entry: string, others: readonly string[] = []): string[] {
  const files = new Map<string, ts.SourceFile>()
  const parse = (path: string) => {
    const file =
      files.get(path) ??
      ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest)
    files.set(path, file)
    return file
  }
  const found: string[] = []
  const targetOf = (from: string, module: ts.Expression | undefined) => {
    if (module === undefined || !ts.isStringLiteral(module) || !module.text.startsWith('.')) return undefined
    const path = join(dirname(from), module.text)
    return existsSync(join(root, path)) ? path : undefined
  }
  /** Members of a type, found by following re-exports. */
  const membersOf = (path: string, name: string): string[] => {
    for (const statement of parse(path).statements) {
      if (
        (ts.isTypeAliasDeclaration(statement) || ts.isInterfaceDeclaration(statement)) &&
        statement.name.text === name
      )
        return namesIn(ts.isTypeAliasDeclaration(statement) ? statement.type : statement)
      if (!ts.isExportDeclaration(statement) && !ts.isImportDeclaration(statement)) continue
      const target = targetOf(path, statement.moduleSpecifier)
      const clause = ts.isExportDeclaration(statement)
        ? statement.exportClause
        : statement.importClause?.namedBindings
      if (target === undefined || clause === undefined || !('elements' in clause)) continue
      for (const element of clause.elements)
        if (element.name.text === name) return membersOf(target, (element.propertyName ?? element.name).text)
    }
    return []
  }
  for (const statement of parse(entry).statements) {
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
    if (ts.isExportDeclaration(statement)) {
      const { exportClause } = statement
      if (exportClause !== undefined && ts.isNamespaceExport(exportClause)) found.push(exportClause.name.text)
      if (exportClause === undefined || !ts.isNamedExports(exportClause)) continue
      for (const { name } of exportClause.elements)
        found.push(name.text, ...membersOf(entry, name.text).map(member => `${name.text}.${member}`))
    } else if (isExported && 'name' in statement) {
      const name = (statement.name as ts.Identifier).text
      found.push(name, ...membersOf(entry, name).map(member => `${name}.${member}`))
    } else if (isExported && ts.isVariableStatement(statement)) {
      for (const { name } of statement.declarationList.declarations) found.push((name as ts.Identifier).text)
    }
  }
  for (const name of others) found.push(...membersOf(CONTRACT, name).map(member => `${name}.${member}`))
  return found.map(name => `${entry.replace(/^src\/|\.ts$/g, '')} ${name}`)
}

/** Names of the members of a type, those of inner literals and of all parts of an intersection or union included. */
function namesIn(type: ts.Node): string[] {
  if (ts.isTypeLiteralNode(type) || ts.isInterfaceDeclaration(type))
    return type.members.flatMap(member => {
      const name = member.name !== undefined && 'text' in member.name ? String(member.name.text) : undefined
      if (name === undefined) return []
      const inner = ts.isPropertySignature(member) && member.type !== undefined ? namesIn(member.type) : []
      return [name, ...inner.map(each => `${name}.${each}`)]
    })
  if (ts.isIntersectionTypeNode(type) || ts.isUnionTypeNode(type))
    return [...new Set(type.types.flatMap(namesIn))]
  if (ts.isParenthesizedTypeNode(type)) return namesIn(type.type)
  return ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal) ? [`= ${type.literal.text}`] : []
}

/** The columns of all tables and views, once the migrations of a version are applied to an empty database. */
export async function readColumns(root: string, url: string): Promise<Set<string>> {
  const files = globSync('src/**/migrations/*.sql', { cwd: root })
  // Those of the platform first, because the others may refer to them.
  const folders = [...new Set(files.map(dirname))].sort().reverse()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`begin; create schema cartwright;
      create table cartwright.migrations (module text, name text, checksum text, applied_at timestamptz)`)
    for (const folder of folders)
      for (const file of globSync(`${folder}/*.sql`, { cwd: root }).sort())
        await client.query(readFileSync(join(root, file), 'utf8'))
    const { rows } = await client.query<{ name: string }>(
      `select table_schema || '.' || table_name || '.' || column_name as name from information_schema.columns
       where table_schema not in ('pg_catalog', 'information_schema')`
    )
    return new Set(rows.map(({ name }) => name))
  } finally {
    await client.query('rollback').catch(() => {})
    await client.end()
  }
}

/** The rows of the tables `| before | now | where |`. Several names in a cell belong to those of the other one in their order. */
export function readRenames(glossary: string): Rename[] {
  const rows = glossary.split('\n').filter(line => line.startsWith('| `'))
  return rows.flatMap(line => {
    const [before = [], now = []] = line.split(' | ').slice(0, 2).map(namesInCell)
    return before.flatMap((name, index): Rename[] => {
      const next = now[index] ?? now.at(-1)
      return next === undefined ? [] : [[name, next]]
    })
  })
}

/** `overhears(event)` names a function, and `outside: 'each'` a key and one of its values. */
const namesInCell = (cell: string): string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, name = '']) =>
    name
      .replace(/\(.*\)$/, '')
      .split(': ')
      .map(each => each.replaceAll("'", ''))
  )

/** A name may be a part of others, such as a table of its columns; it is replaced where it stands as a whole word. */
const replaced = (name: string, [before, now]: Rename): string =>
  name.replace(new RegExp(`(?<![\\w])${RegExp.escape(before)}(?![\\w])`, 'g'), () => now)

/** What a name may be called now: with each rename applied or not, because a rename is meant for some kinds of names only. */
function candidatesOf(name: string, renames: readonly Rename[]): Set<string> {
  const candidates = new Set([name])
  for (const rename of renames)
    for (const candidate of [...candidates]) candidates.add(replaced(candidate, rename))
  return candidates
}

/** What is left of each kind when the renames are applied to the first surface. Kinds without a difference are left out. */
export function compareSurfaces(before: Surface, now: Surface, renames: readonly Rename[]): Difference[] {
  return [...now].flatMap(([kind, names]) => {
    const expected = new Set<string>()
    const gone: string[] = []
    let renamed = 0
    for (const name of before.get(kind) ?? []) {
      const found = names.has(name) ? name : [...candidatesOf(name, renames)].find(each => names.has(each))
      if (found === undefined) gone.push(name)
      else expected.add(found)
      if (found !== undefined && found !== name) renamed += 1
    }
    const added = [...names].filter(name => !expected.has(name))
    return gone.length + added.length + renamed === 0
      ? []
      : [{ kind, renamed, gone: gone.sort(), added: added.sort() }]
  })
}
