import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import * as cartwright from '../../src/index.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const BLOCK = /\/\*\*(?:(?!\*\/)[\s\S])*\*\//g
const MEMBER = /^\s*(?:readonly )?(\w+)/

/** An `@example` of a module's contract. */
export type Example = { readonly path: string; readonly member: string; readonly code: string }

/** The values that every example can use, and their types. */
const GIVEN = {
  assert: "typeof import('node:assert/strict')",
  orders: "import('./src/index.ts').OrdersApi",
  catalog: "import('./src/index.ts').CatalogApi",
  db: "import('./src/index.ts').Database",
  Readable: "typeof import('node:stream').Readable",
  customerId: 'string',
  variantId: 'string',
  categoryId: 'string',
  sku: 'string',
  shipping_address: "NonNullable<import('./src/index.ts').PlaceOrderInput['shipping_address']>",
  job: '{ readonly id: string }'
} as const
export type Given = Readonly<Record<keyof typeof GIVEN, unknown>>

/** Returns the examples of doc comments, with the member that follows each. */
export function readExamples(path: string, text: string): Example[] {
  return [...text.matchAll(BLOCK)].flatMap(({ 0: block, index }) => {
    const [, code] = block.split('* @example\n')
    if (code === undefined) return []
    const [, member = ''] = MEMBER.exec(text.slice(index + block.length)) ?? []
    const lines = code.replace(/\s*\*\/$/, '').split('\n')
    return [{ path, member, code: lines.map(line => line.replace(/^\s*\* ?/, '')).join('\n') }]
  })
}

export const moduleExamples = (): Example[] =>
  globSync('src/modules/**/*.ts', { cwd: ROOT, exclude: ['**/*.test.ts'] })
    .toSorted()
    .flatMap(path => readExamples(path, readFileSync(join(ROOT, path), 'utf8')))

/** The members of a type that is an API, and whether each has an example. */
export function membersOf(
  path: string,
  type: string
): { readonly name: string; readonly hasExample: boolean }[] {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found = statements.find(each => ts.isTypeAliasDeclaration(each) && each.name.text === type)
  if (found === undefined || !ts.isTypeAliasDeclaration(found) || !ts.isTypeLiteralNode(found.type))
    throw new Error(`${path} declares no members of ${type}`)
  return found.type.members.map(member => ({
    name: member.name?.getText() ?? '',
    hasExample: ts.getJSDocTags(member).some(({ tagName }) => tagName.text === 'example')
  }))
}

const GUIDE = 'docs/adding-a-module.md'
/** The code of a module that places an order, in the guide. */
export function guideExample(): Example {
  const [, section = ''] = readFileSync(join(ROOT, GUIDE), 'utf8').split('## Placing orders\n')
  const [, code = ''] = /^```text\n(.*?)^```$/ms.exec(section) ?? []
  return { path: GUIDE, member: 'the guide', code }
}

/** The exports of the package that the code uses. */
const importedBy = (code: string) =>
  Object.keys(cartwright).filter(name => new RegExp(`\\b${name}\\b`).test(code))

/** Returns what the compiler reports for each example, in their order. */
export function compileExamples(examples: readonly Example[]): string[][] {
  const given = Object.entries(GIVEN).map(([name, type]) => `declare const ${name}: ${type}`)
  const files = new Map(
    examples.map(({ code }, index) => {
      const text = [
        `import { ${importedBy(code).join(', ')} } from './src/index.ts'`,
        // Declared, because an assertion function such as `assert` needs an explicit type.
        ...given,
        `export async function example(): Promise<void> {\n${code}\n}`
      ].join('\n')
      return [join(ROOT, `example-${index}.ts`), text]
    })
  )
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT)
  const host = ts.createCompilerHost(options)
  const { readFile, fileExists, getSourceFile } = host
  host.readFile = path => files.get(path) ?? readFile(path)
  host.fileExists = path => files.has(path) || fileExists(path)
  host.getSourceFile = (path, version, ...rest) => {
    const text = files.get(path)
    return text === undefined
      ? getSourceFile(path, version, ...rest)
      : ts.createSourceFile(path, text, version)
  }
  const program = ts.createProgram(
    [...files.keys()],
    { ...options, noEmit: true, noUnusedLocals: false },
    host
  )
  return [...files.keys()].map(path =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(path))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  )
}

/** Runs an example. Rejects when one of its assertions fails. */
export async function runExample({ code }: Example, given: Given): Promise<void> {
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext }
  })
  const scope = new Map<string, unknown>([...Object.entries(cartwright), ...Object.entries(given)])
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor
  await new AsyncFunction(...scope.keys(), outputText.replace(/^export \{\};?$/m, ''))(...scope.values())
}
