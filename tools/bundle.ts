/**
 * Puts the program into a few files, which load in half the time of four hundred. They lie below node_modules, so that
 * `npm ci` removes them; `tools/program.sh` starts them as long as the sources are the same. What a running program still has
 * to load stays where it is: the newest one is a link, and those before it are kept.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

const ROOT = join(import.meta.dirname, '..')
const CACHE = join(ROOT, 'node_modules/.cache')
const LINK = join(CACHE, 'program')
const KEPT = 20

/** Of packages those that every start loads, with all that they load, */
const TOGETHER = ['fastify', 'pg']
/** but for what looks for files beside its own, is not there, or is hardly ever needed. */
const APART = [
  'pino',
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

const IMPORT_OF_NODE = /^import (?:(\w+)(?:, )?)?(\{.*\})? ?from "(node:[\w/]+)";$/gm

/**
 * The same code, read sooner: text that is ASCII takes a byte a character and is not decoded, and of a module of Node only what
 * is named is made, where an import makes all that it exports.
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

const folder = join(CACHE, `program-${Date.now()}-${process.pid}`)
mkdirSync(folder, { recursive: true })
// What is changed from now on is newer.
writeFileSync(join(folder, 'made-in'), `${process.argv[2] ?? ''}\n`)
const bundle = await rolldown({
  input: join(ROOT, 'src/main.ts'),
  platform: 'node',
  external: (id, importer) =>
    /^[^./]/.test(id) &&
    (APART.includes(id) || !(TOGETHER.includes(id) || importer?.includes('/node_modules/'))),
  plugins: [addresses],
  logLevel: 'silent'
})
const { output } = await bundle.generate({
  entryFileNames: '[name].mjs',
  chunkFileNames: '[name]-[hash].mjs'
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
