/**
 * Puts the program into a few files, which load in half the time of four hundred. They lie below node_modules, so that
 * `npm ci` removes them; `tools/program.sh` starts them as long as the sources are the same. What a running program still has
 * to load stays where it is: the newest one is a link, and those before it are kept.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { type ChunkingContext, type Plugin, rolldown } from 'rolldown'
import { later } from './later.ts'

const ROOT = join(import.meta.dirname, '..')
const SOURCES = join(ROOT, 'src')
const CACHE = join(ROOT, 'node_modules/.cache')
const LINK = join(CACHE, 'program')
const KEPT = 20

/** Of packages those that every start loads, with all that they load, */
const TOGETHER = ['fastify', 'lru-cache', 'pg', 'pino']
/** but for what looks for files beside its own, is not there, or is hardly ever needed. */
const APART = [
  'pg-native',
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'light-my-request'
]

/** Files are found from where the source lies, not from where the bundle does. */
const addresses: Plugin = {
  name: 'addresses',
  transform: (code, id) => {
    const source = JSON.stringify(relative(folder, id))
    return code.replaceAll('import.meta.url', `new URL(${source}, import.meta.url).href`)
  }
}

/** What fastify loads of Node for servers and mistakes that are none of ours: it takes as long as a module of the shop. */
const SELDOM = /\brequire\('(node:(?:assert|http2|https))'\)/g
const seldom: Plugin = {
  name: 'seldom',
  transform: (code, id) =>
    id.includes('/node_modules/')
      ? code.replace(
          SELDOM,
          'new Proxy(function () {}, {' +
            ' get: (_, key) => process.getBuiltinModule("$1")[key],' +
            ' apply: (_, self, given) => process.getBuiltinModule("$1")(...given) })'
        )
      : null
}

const IMPORT_OF_NODE = /^import (?:(\w+)(?:, )?)?(\{.*\})? ?from "(node:[\w/]+)";$/gm

/**
 * The same code, loaded sooner. ASCII text takes a byte a character and is not decoded. Of a module of Node only the named
 * exports are created, while an import creates all of them.
 */
const quick = (code: string): string =>
  code
    .replace(IMPORT_OF_NODE, (_, whole, named, id) =>
      [whole, named?.replaceAll(' as ', ': ')]
        .filter(Boolean)
        .map(names => `const ${names} = process.getBuiltinModule("${id}");`)
        .join(' ')
    )
    .replace(/[^\x00-\x7f]/g, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** What a start needs before it can begin with the database is one file, */
const FIRST = ['cli/commands.ts', 'cli/start.ts', 'embedded-postgres/open.ts']
/** and what every part of it shares is another, where there would be thirty: to find and link one takes half a millisecond. */
const SHARED = /^(kernel|platform)\b/
let first: ReadonlySet<string> | undefined
let always: ReadonlySet<string> | undefined
function partOf(id: string, modules: ChunkingContext): string | null {
  first ??= reachedFrom(FIRST, modules)
  always ??= reachedFrom(['shop.ts'], modules)
  if (first.has(id)) return 'first'
  return always.has(id) && SHARED.test(relative(SOURCES, id)) ? 'shared' : null
}

function reachedFrom(files: readonly string[], modules: ChunkingContext): Set<string> {
  const reached = new Set(files.map(file => join(SOURCES, file)))
  for (const id of reached) for (const next of modules.getModuleInfo(id)?.importedIds ?? []) reached.add(next)
  return reached
}

const folder = join(CACHE, `program-${Date.now()}-${process.pid}`)
mkdirSync(folder, { recursive: true })
// What is changed from now on is newer.
writeFileSync(join(folder, 'made-in'), `${process.argv[2] ?? ''}\n`)
const bundle = await rolldown({
  input: join(SOURCES, 'main.ts'),
  platform: 'node',
  external: (id, importer) =>
    /^[^./]/.test(id) &&
    (APART.includes(id) || !(TOGETHER.includes(id) || importer?.includes('/node_modules/'))),
  plugins: [addresses, seldom, later],
  logLevel: 'silent'
})
const { output } = await bundle.generate({
  entryFileNames: '[name].mjs',
  chunkFileNames: '[name]-[hash].mjs',
  codeSplitting: { groups: [{ name: partOf }] }
})
for (const file of output)
  if (file.type === 'chunk') writeFileSync(join(folder, file.fileName), quick(file.code))
await bundle.close()
symlinkSync(basename(folder), `${folder}-link`)
renameSync(`${folder}-link`, LINK)
const older = readdirSync(CACHE)
  .filter(name => name.startsWith('program-'))
  .sort()
for (const name of older.slice(0, -KEPT)) rmSync(join(CACHE, name), { recursive: true })
