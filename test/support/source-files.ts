import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export type Source = { path: string; text: string }
export type Import = {
  /** A path from the root of the project, or the name of a package. */
  from: string
  /** What is imported as a value; `*` for everything, empty for types. */
  values: string[]
}
/** What only some files may do. */
export type Deed =
  | 'SQL'
  | 'process.env'
  | 'a default export'
  | 'if'
  | 'try'
  | 'a route without a class'
  | 'an unsafe route that hands no write on'
  | 'an accessor of an object literal'
export type SourceFile = Source & {
  isTest: boolean
  imports: Import[]
  /** Texts of the strings and templates. */
  texts: string[]
  /** Names of the statements that are declared with their name written out. */
  statements: string[]
  /** Identifiers of any kind. */
  names: Set<string>
  /** Members that are read: `a.name` and `{ name } = a`. */
  reads: Set<string>
  /** Keys that are declared as settings, those of sections within sections too. */
  settings: string[]
  deeds: Set<Deed>
}

const root = new URL('../../', import.meta.url)

/** Every TypeScript file of the project. */
export async function readSources(): Promise<Source[]> {
  const paths = globSync(['src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts'], {
    cwd: fileURLToPath(root),
    exclude: ['**/*.d.ts']
  })
  return Promise.all(
    paths.sort().map(async path => ({ path, text: await readFile(new URL(path, root), 'utf8') }))
  )
}

/** What the rules of the house ask of a file, by its syntax tree. */
export function parseSource(source: Source): SourceFile {
  const file: SourceFile = {
    ...source,
    isTest: source.path.endsWith('.test.ts') || source.path.startsWith('test/'),
    imports: [],
    texts: [],
    statements: [],
    names: new Set(),
    reads: new Set(),
    settings: [],
    deeds: new Set()
  }
  const visit = (node: ts.Node): void => {
    note(file, node)
    noteNames(file, node)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(source.path, source.text, ts.ScriptTarget.Latest, true))
  return file
}

function note(file: SourceFile, node: ts.Node): void {
  if (ts.isImportDeclaration(node))
    file.imports.push(importOf(file.path, node.moduleSpecifier, node.importClause))
  else if (ts.isExportDeclaration(node) && node.moduleSpecifier)
    file.imports.push({
      from: target(file.path, node.moduleSpecifier),
      values: node.isTypeOnly ? [] : exported(node)
    })
  else if (ts.isStringLiteralLike(node)) file.texts.push(node.text)
  else if (ts.isTemplateExpression(node))
    file.texts.push(
      [node.head, ...node.templateSpans.map(span => span.literal)].map(part => part.text).join(' ')
    )
  else if (ts.isCallExpression(node)) noteCall(file, node)
  else if (ts.isPropertyAccessExpression(node) && node.getText() === 'process.env')
    file.deeds.add('process.env')
  else if (
    ts.isExportAssignment(node) ||
    (node.kind === ts.SyntaxKind.DefaultKeyword && !ts.isDefaultClause(node.parent))
  )
    file.deeds.add('a default export')
  else if (ts.isExportSpecifier(node) && node.name.text === 'default') file.deeds.add('a default export')
  else if (ts.isIfStatement(node)) file.deeds.add('if')
  else if (ts.isTryStatement(node)) file.deeds.add('try')
  else if (ts.isAccessor(node) && ts.isObjectLiteralExpression(node.parent))
    file.deeds.add('an accessor of an object literal')
}

function noteNames(file: SourceFile, node: ts.Node): void {
  if (ts.isIdentifier(node)) file.names.add(node.text)
  if (ts.isPropertyAccessExpression(node)) file.reads.add(node.name.text)
  if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent))
    file.reads.add((node.propertyName ?? node.name).getText())
  if (!ts.isCallExpression(node)) return
  const [, second] = node.arguments
  const parts = second && ts.isObjectLiteralExpression(second) ? second.properties : []
  if (node.expression.getText() === 'section')
    file.settings.push(...parts.flatMap(part => (part.name ? [part.name.getText()] : [])))
  if (isRoute(node.expression) && !parts.some(saysClass)) file.deeds.add('a route without a class')
  const handler = node.arguments.at(-1)?.getText() ?? ''
  const mayWrite = isRoute(node.expression) && !node.expression.getText().endsWith('.get')
  if (mayWrite && !handler.includes('writeOf(request)') && !/\bnoReplay:/.test(second?.getText() ?? ''))
    file.deeds.add('an unsafe route that hands no write on')
}

/** `tiers.public.get` and its like. */
const isRoute = (expression: ts.Expression) =>
  /^tiers\.(?:public|secured|admin|wellKnown)\.(?:get|post|put|patch|delete)$/.test(expression.getText())

/** `config` by its name, or written out with a class; what a name stands for, the compiler checks. */
const saysClass = (part: ts.ObjectLiteralElementLike) =>
  part.name?.getText() === 'config' &&
  (!ts.isPropertyAssignment(part) ||
    !ts.isObjectLiteralExpression(part.initializer) ||
    part.initializer.properties.some(each => each.name?.getText() === 'class' || ts.isSpreadAssignment(each)))

function noteCall(file: SourceFile, { expression, arguments: [first] }: ts.CallExpression): void {
  if (expression.kind === ts.SyntaxKind.ImportKeyword && first && ts.isStringLiteralLike(first))
    file.imports.push({ from: target(file.path, first), values: ['*'] })
  const name = ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText()
  const isText = first !== undefined && (ts.isStringLiteralLike(first) || ts.isTemplateExpression(first))
  const isStatement = name === 'statement'
  if (isStatement || (name === 'query' && isText)) file.deeds.add('SQL')
  if (!isStatement || first === undefined || !ts.isObjectLiteralExpression(first)) return
  const named = propertyOf(first, 'name')
  if (named && ts.isStringLiteralLike(named)) file.statements.push(named.text)
}

function propertyOf(object: ts.ObjectLiteralExpression, name: string): ts.Expression | undefined {
  const found = object.properties.find(property => property.name?.getText() === name)
  return found && ts.isPropertyAssignment(found) ? found.initializer : undefined
}

function importOf(path: string, specifier: ts.Expression, clause: ts.ImportClause | undefined): Import {
  const from = target(path, specifier)
  if (clause === undefined) return { from, values: ['*'] }
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return { from, values: [] }
  const { name, namedBindings } = clause
  const named = namedBindings && ts.isNamedImports(namedBindings) ? namedBindings.elements : []
  const values = named.filter(each => !each.isTypeOnly).map(each => (each.propertyName ?? each.name).text)
  const isWhole = name !== undefined || (namedBindings !== undefined && ts.isNamespaceImport(namedBindings))
  return { from, values: isWhole ? ['*', ...values] : values }
}

function exported({ exportClause }: ts.ExportDeclaration): string[] {
  if (exportClause === undefined || !ts.isNamedExports(exportClause)) return ['*']
  return exportClause.elements
    .filter(each => !each.isTypeOnly)
    .map(each => (each.propertyName ?? each.name).text)
}

function target(path: string, specifier: ts.Expression): string {
  const text = ts.isStringLiteralLike(specifier) ? specifier.text : ''
  return text.startsWith('.') ? join(dirname(path), text) : text
}
