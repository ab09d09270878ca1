import { dirname, join } from 'node:path/posix'
import ts from 'typescript'

export type Source = { path: string; text: string }
export type Rule = {
  /** What holds, as a sentence. */
  name: string
  /** Every way in which this file breaks it. */
  check(file: File): string[]
}

type Import = {
  /** A path from the root of the project, or the name of a package. */
  from: string
  /** What is imported as a value; `*` for everything. Empty for types. */
  values: string[]
}
type File = Source & {
  isTest: boolean
  imports: Import[]
  /** Texts of the strings and templates. */
  literals: string[]
  /** Names of the statements declared, where they are written out. */
  statementNames: string[]
  /** What this file does that only some may do. */
  uses: Set<'sql' | 'process.env' | 'default export' | 'if' | 'try'>
}

/** Values of the platform that a module may import; all else comes through `setup`, or is a type. */
const PLATFORM_VALUES = ['statement', 'violates', 'unconditional', 'databaseUnavailable']
const GATEWAY_DOORS = ['tiers', 'identity', 'write'].map(name => `src/gateway/${name}.ts`)
const SQL_PLACES = /^src\/platform\/|\/repository\.ts$|^bench\/|^test\//
const SHAPELESS = /(?:^|\/)(?:utils?|common|shared|helpers?|types|interfaces|constants)\//
const LINES_MAX = { source: 300, test: 600 }

const moduleOf = (path: string) => /^src\/modules\/([^/]+)\//.exec(path)?.[1]
const isDoor = (path: string) => /^src\/modules\/[^/]+\/index\.ts$/.test(path)
const isRoutes = (path: string) => /^src\/modules\/.+\/routes\.ts$/.test(path)
const isType = ({ values }: Import) => values.length === 0
const isOurs = ({ from }: Import) => from.startsWith('src/') || from.startsWith('test/')

/** A wall: in the files that `from` names, each import of ours must pass. */
const wall = (name: string, from: (path: string) => boolean, mayImport: (file: File, one: Import) => boolean): Rule => ({
  name,
  check: file =>
    file.isTest || !from(file.path)
      ? []
      : file.imports.filter(one => isOurs(one) && !mayImport(file, one)).map(one => `imports ${one.from}`)
})
const within = (folder: string) => (path: string) => path.startsWith(folder)
const forbids = (name: string, use: typeof File.prototype.uses extends never ? never : string, allowed: (path: string) => boolean): Rule => ({
  name,
  check: file => (file.uses.has(use as never) && !allowed(file.path) ? [`has ${use}`] : [])
})

export const rules: readonly Rule[] = []
