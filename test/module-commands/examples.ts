import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import * as cartwright from '../../src/index.ts'
import * as testing from '../../src/testing.ts'
import { type EntryPoint, readPublicExports } from '../support/public-exports.ts'
import { generatedExample, hasGeneratedExample } from './generated-examples.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const BLOCK = /\/\*\*(?:(?!\*\/)[\s\S])*\*\//g
const MEMBER = /^\s*(?:readonly |export (?!\*|\{))?(?:async |const |function |class |type (?=\w))*(\w+)/

/** An `@example` of an export, or of a function in a module's API. */
export type Example = { readonly path: string; readonly member: string; readonly code: string }

/** The values that every example can use, and their types. */
const GIVEN = {
  assert: "typeof import('node:assert/strict')",
  orders: "import('./src/index.ts').OrdersApi",
  catalog: "import('./src/index.ts').CatalogApi",
  pricing: "import('./src/index.ts').PricingApi",
  inventory: "import('./src/index.ts').InventoryApi",
  payments: "import('./src/index.ts').PaymentsApi",
  shipping: "import('./src/index.ts').ShippingApi",
  reviews: "import('./src/index.ts').ReviewsApi",
  notifications: "import('./src/index.ts').NotificationsApi",
  db: "import('./src/index.ts').Database",
  databaseUrl: 'string',
  request: "import('fastify').FastifyRequest",
  Readable: "typeof import('node:stream').Readable",
  customerId: 'string',
  variantId: 'string',
  stockedVariantId: 'string',
  priceListId: 'string',
  promotionId: 'string',
  reviewId: 'string',
  categoryId: 'string',
  sku: 'string',
  shipping_address: "NonNullable<import('./src/index.ts').PlaceOrderInput['shipping_address']>",
  job: '{ readonly id: string }',
  handOver: "(module: import('./src/module.ts').Module) => void"
} as const
export type Given = Readonly<Partial<Record<keyof typeof GIVEN, unknown>>>

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

/** The examples of all doc comments of the sources. */
export const sourceExamples = (): Example[] =>
  globSync('src/**/*.ts', { cwd: ROOT, exclude: ['**/*.test.ts'] })
    .toSorted()
    .flatMap(path => readExamples(path, readFileSync(join(ROOT, path), 'utf8')))

/** The examples of exports that are made from their declarations. */
export const generatedExamples = (): Example[] =>
  readPublicExports()
    .filter(hasGeneratedExample)
    .map(each => ({ path: each.path, member: each.name, code: generatedExample(each) }))

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
/** The first code below a heading of the guide. */
export function guideExample(heading = 'Placing orders'): Example {
  const [, section = ''] = readFileSync(join(ROOT, GUIDE), 'utf8').split(`## ${heading}\n`)
  const [, code = ''] = /^```text\n(.*?)^```$/ms.exec(section) ?? []
  return { path: GUIDE, member: 'the guide', code }
}

const FILES: Readonly<Record<EntryPoint, string>> = {
  cartwright: './src/index.ts',
  'cartwright/testing': './src/testing.ts'
}

/** Imports all exports. */
const imports = (): string[] =>
  Object.entries(FILES).map(([entry, file]) => {
    const names = readPublicExports()
      .filter(each => each.entry === entry && !each.name.includes('.'))
      .map(({ name, kind }) => (kind === 'type' ? `type ${name}` : name))
    return `import { ${names.join(', ')} } from '${file}'`
  })

const TSC = join(ROOT, 'node_modules/@typescript/native/bin/tsc')
const FAULT = /^\S*examples\.ts\((\d+),\d+\): error TS\d+: (.*(?:\n .*)*)/gm

/**
 * Returns what the compiler reports for each example, in their order. One file has all, because a compilation takes seconds of
 * CPU: 5 with this compiler, 20 with the one that is a library (2026-11).
 */
export function compileExamples(examples: readonly Example[]): string[][] {
  const given = Object.entries(GIVEN).map(([name, type]) => `declare const ${name}: ${type}`)
  // Declared, because an assertion function such as `assert` needs an explicit type.
  let text = `${[...imports(), ...given].join('\n')}\n`
  const ends = examples.map(({ code }, index) => {
    text += `export async function example${index}(): Promise<void> {\n${code}\n}\n`
    return text.split('\n').length
  })
  const cache = join(ROOT, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'examples-'))
  try {
    writeFileSync(join(folder, 'examples.ts'), text.replaceAll("'./src/", `'${ROOT}src/`))
    const compilerOptions = { noUnusedLocals: false }
    const config = { extends: `${ROOT}tsconfig.json`, compilerOptions, files: ['examples.ts'], include: [] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const { stdout, stderr } = spawnSync(TSC, ['-p', folder, '--pretty', 'false', '--singleThreaded'], {
      cwd: folder,
      encoding: 'utf8'
    })
    if (stderr !== '') throw new Error(stderr)
    const faults: string[][] = examples.map(() => [])
    for (const [, line, message = ''] of stdout.matchAll(FAULT)) {
      const example = faults[ends.findIndex(end => Number(line) < end)]
      if (example === undefined) throw new Error(`the examples cannot be compiled: ${message}`)
      example.push(message)
    }
    return faults
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs an example. Rejects when one of its assertions fails. */
export async function runExample({ code }: Example, given: Given): Promise<void> {
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext }
  })
  const scope = new Map<string, unknown>(Object.entries({ ...cartwright, ...testing, ...given }))
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor
  // A block, so that an example can declare a name that others are given.
  const block = `{\n${outputText.replace(/^export \{\};?$/m, '')}\n}`
  await new AsyncFunction(...scope.keys(), block)(...scope.values())
}
