import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const ENTRIES = { cartwright: 'src/index.ts', 'cartwright/testing': 'src/testing.ts' } as const
export type EntryPoint = keyof typeof ENTRIES

/** A name that the package exports. */
export type PublicExport = {
  readonly entry: EntryPoint
  /** With its namespace: `wire.Id`. */
  readonly name: string
  /** The file that declares it, from the root of the project. */
  readonly path: string
  readonly kind: 'type' | 'value' | 'namespace'
  /** Its doc comment, or that of the line that exports it; empty without one. */
  readonly text: string
  /** The code of its `@example`; undefined without one. */
  readonly example: string | undefined
}

let read: readonly PublicExport[] | undefined

/** Returns the exports of the package, by the compiler. It does not look into other packages. */
export function readPublicExports(): readonly PublicExport[] {
  read ??= readOnce()
  return read
}

function readOnce(): PublicExport[] {
  const options = { target: ts.ScriptTarget.ESNext, noLib: true, types: [], noEmit: true }
  const host = ts.createCompilerHost(options)
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map(({ text }) => {
      const resolvedFileName = join(dirname(from), text)
      return {
        resolvedModule: text.startsWith('.') ? { resolvedFileName, extension: ts.Extension.Ts } : undefined
      }
    })
  const files = Object.values(ENTRIES).map(path => join(ROOT, path))
  const program = ts.createProgram(files, { ...options, allowImportingTsExtensions: true }, host)
  const checker = program.getTypeChecker()

  const exportsOf = (module: ts.Symbol, entry: EntryPoint, prefix: string): PublicExport[] =>
    checker.getExportsOfModule(module).flatMap(symbol => {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
      const own = [...(target.declarations ?? []).map(docOf), exportLineOf(symbol)].filter(
        each => each !== undefined
      )
      const isNamespace = (target.flags & ts.SymbolFlags.ValueModule) !== 0
      const file = target.declarations?.[0]?.getSourceFile().fileName
      const found: PublicExport = {
        entry,
        name: prefix + symbol.name,
        path: file === undefined ? ENTRIES[entry] : relative(ROOT, file),
        kind: isNamespace ? 'namespace' : isOnlyType(symbol, target) ? 'type' : 'value',
        text: own.find(({ text }) => text !== '')?.text ?? '',
        example: own.find(({ example }) => example !== undefined)?.example
      }
      return [found, ...(isNamespace ? exportsOf(target, entry, `${found.name}.`) : [])]
    })
  return Object.entries(ENTRIES).flatMap(([entry, path]) => {
    const source = program.getSourceFile(join(ROOT, path)) as ts.SourceFile
    return exportsOf(checker.getSymbolAtLocation(source) as ts.Symbol, entry as EntryPoint, '')
  })
}

const isOnlyType = ({ declarations = [] }: ts.Symbol, target: ts.Symbol): boolean =>
  (target.flags & ts.SymbolFlags.Value) === 0 ||
  declarations.some(each => ts.isExportSpecifier(each) && (each.isTypeOnly || each.parent.parent.isTypeOnly))

type Doc = Pick<PublicExport, 'text' | 'example'>
const COMMENT = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/

/** The doc comment of a declaration. */
const docOf = (declaration: ts.Declaration): Doc | undefined =>
  ts.isSourceFile(declaration)
    ? undefined
    : docBefore(ts.findAncestor(declaration, ts.isStatement) ?? declaration)

/** The comment over the line of the entry point that hands a name on. */
function exportLineOf({ declarations = [] }: ts.Symbol): Doc | undefined {
  const [line] = declarations.flatMap(each => ts.findAncestor(each, ts.isExportDeclaration) ?? [])
  return line && docBefore(line)
}

function docBefore(node: ts.Node): Doc | undefined {
  const leading = node.getSourceFile().text.slice(node.getFullStart(), node.getStart())
  const [, comment] = COMMENT.exec(leading) ?? []
  if (comment === undefined) return undefined
  const [before = '', example] = comment.replace(/^\s*\* ?/gm, '').split('@example\n')
  const [text = ''] = before.split(/^@/m)
  return { text: text.trim().replaceAll(/\s+/g, ' '), example: example?.trim() }
}
