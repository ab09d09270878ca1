import { readdirSync } from 'node:fs'
import type { Deed, Import, SourceFile } from './source-files.ts'
import { isSql, tablesOf } from './sql-names.ts'

export type Rule = {
  /** What holds, as a sentence. */
  name: string
  /** How this file breaks it. */
  check(file: SourceFile): string[]
}

/** A rule that no file can keep alone. */
export type HouseRule = { name: string; check(files: readonly SourceFile[]): string[] }

const GATEWAY_DOORS = [
  ...['routing/tiers', 'callers/identity', 'writes/write', 'callers/rate-limits', 'kept-responses']
].map(name => `src/gateway/${name}.ts`)
/** Values of the platform that a module may import; all else comes through `setup`, or is a type. */
const PLATFORM_VALUES = [
  ...[
    'createCacheInvalidator',
    'createCachedReader',
    'createTransactionValue',
    'createMetadataCommand',
    'boundedSearchSql',
    'declareMetadataLimitConstraint',
    'hasMetadataSql',
    'mergedMetadataSql',
    'changeMetadata',
    'adminMetadataColumns',
    'metadataMatchSql',
    'metadataSearchSqlParts',
    'metadataUpdateStatement'
  ],
  ...[
    'countUpTo',
    'readChangedRowsPage',
    'statement',
    'recordsetColumnsSql',
    'json',
    'nullableJson',
    'oneOf',
    'nullableOneOf',
    'newWrite',
    'databaseUnavailableError',
    'databaseBusyError'
  ],
  ...[
    'readCsvRecords',
    'CSV_RECORD_BYTES_MAX',
    'CsvRejectedError',
    'CsvImportShutdownError',
    'FIRST_CSV_ROW',
    'spoolUpload',
    'csvLine',
    'createCsvStream',
    'unescapeCsvFormula'
  ],
  ...[
    'findCsvColumns',
    'missingCsvColumnsMessage',
    'copyTextOutOfCsvCell',
    'validateCsvFile',
    'readCsvDataRecords'
  ]
]
const SQL_PLACES = /^(?:src\/platform|test|bench)\/|[/-]repository\.ts$/
/** Another statement that locks levels would delay every batch, and decide on rows that a batch is about to change. */
const LEVELS_WRITER = 'src/modules/inventory/writer/repository.ts'
const TAKES_LEVELS =
  /\b(?:update|insert\s+into|delete\s+from|merge\s+into|truncate|lock(?:\s+table)?)\s+(?:only\s+)?inventory\.levels\b|\binventory\.levels\b[^;]*\bfor\s+(?:no\s+key\s+update|update|key\s+share|share)\b/i
const SHAPELESS = /(?:^|\/)(?:utils?|common|shared|helpers?|types|interfaces|constants)\//
/** Files beside the folders of a module: its declarations, and parts of its set-up. Tests of the whole module are there, too. */
const MODULE_ROOT =
  /^(?:index|api|settings|errors|events|jobs|fake|diagnosis|validation|set-up-[a-z]+(?:-[a-z]+)*)\.ts$/
/** Loads the payment sandbox when the first payment needs it, which never happens in production. */
const SANDBOX_LOADER = 'src/modules/payments/providers/enabled.ts'
/** Everything else waits by it, by `until` or by `expect.poll`. */
const WAITS = 'test/support/eventually.ts'
const LINES_MAX = { source: 300, test: 600 }
/** Routes that decide something all the same, and why. */
export const BRANCHING_ROUTES: Record<string, string> = {
  'src/modules/cart/guest/routes.ts': 'one route makes a cart (201) or adds to one (200)'
}

/** Number of pairs of folders of a module that import each other. These numbers may only fall; other modules have none. */
export const FOLDER_PAIRS_MAX: Readonly<Record<string, number>> = { catalog: 1, orders: 1, webhooks: 1 }

/**
 * A module imports from its left only, those that are still to come included (docs/decisions/0033). This is the one
 * place where the order stands.
 */
const MODULE_ORDER = [
  'auth',
  'pricing',
  'inventory',
  'payments',
  'catalog',
  'shipping',
  'cart',
  'orders',
  'reviews',
  'notifications',
  'webhooks',
  'admin'
]

/** Gateway and platform know `admin` as a role and a tier. */
const MODULES = readdirSync(new URL('../../src/modules/', import.meta.url)).filter(name => name !== 'admin')
/** Terms that contain a module's name and are not ours: the authentication tag of Node's ciphers, a name of RFC 9727. */
export const FOREIGN_TERMS = [/auth_?tag/gi, /api[-_]catalog/gi]

const moduleOf = (path: string) => /^src\/modules\/([^/]+)\//.exec(path)?.[1]
const isDoor = (path: string) => /^src\/modules\/[^/]+\/index\.ts$/.test(path)
/** A test double of a module's API, beside the module, for tests of other modules. */
const isFake = (path: string) => /^src\/modules\/[^/]+\/fake\.ts$/.test(path)
const isRoutes = (path: string) => /^src\/modules\/.+[/-]routes\.ts$/.test(path)
/** A part of the set-up of a module, which `index.ts` calls. */
const isSetUp = (path: string) => /^src\/modules\/[^/]+\/set-up-[^/]+\.ts$/.test(path)
const below = (path: string, folder: string) => path.startsWith(`src/${folder}/`)
const isType = ({ values }: Import) => values.length === 0

/** A wall: each import of ours, in the files that it is for, must pass. Tests may climb it. */
const wall = (
  name: string,
  isFor: (path: string) => boolean,
  mayImport: (one: Import, path: string) => boolean
): Rule => ({
  name,
  check: ({ path, isTest, imports }) =>
    isTest || !isFor(path)
      ? []
      : imports
          .filter(one => /^(?:src|test|bench)\//.test(one.from) && !mayImport(one, path))
          .map(
            ({ from, values }) => `imports ${values.length === 0 ? 'types' : values.join(', ')} of ${from}`
          )
})

/** The modules that a text or an identifier names: `cartRoutes`, `x-guest-cart-token`, `/api/carts`. */
function modulesNamedIn(text: string): string[] {
  if (text.endsWith('.ts')) return [] // what may be imported is a rule of its own
  const words = FOREIGN_TERMS.reduce((left, term) => left.replaceAll(term, ''), text)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
  return MODULES.filter(name => words.includes(name) || words.includes(`${name}s`))
}

/** Something that only some files do. */
const onlyIn = (name: string, deed: Deed, isAllowed: (path: string) => boolean): Rule => ({
  name,
  check: ({ path, deeds }) => (deeds.has(deed) && !isAllowed(path) ? [`has ${deed}`] : [])
})

const isOwn = (from: string, path: string) =>
  moduleOf(from) !== undefined && moduleOf(from) === moduleOf(path)

function mayModuleImport(one: Import, path: string): boolean {
  const { from, values } = one
  if (below(from, 'modules')) return true // the doors are a rule of their own
  if (below(from, 'kernel')) return true
  if (below(from, 'payment-sandbox')) return true // its loader is a rule of its own
  if (below(from, 'platform')) return values.every(value => PLATFORM_VALUES.includes(value))
  if (GATEWAY_DOORS.includes(from)) return isRoutes(path) || ((isDoor(path) || isSetUp(path)) && isType(one))
  return from === 'src/module.ts' && (isDoor(path) || (isSetUp(path) && isType(one)))
}

/** Its fields can be written without the spread. A condition (`...(a && { b })`) is something else. */
const SPREADS_LITERAL = /[{,]\s*\.{3}\{/
export const rules: readonly Rule[] = [
  wall(
    'the kernel imports nothing of ours',
    path => below(path, 'kernel'),
    ({ from }) => below(from, 'kernel')
  ),
  wall(
    'the platform imports the kernel alone',
    path => below(path, 'platform'),
    one => below(one.from, 'platform') || below(one.from, 'kernel')
  ),
  wall(
    'the embedded PostgreSQL imports kernel and platform alone',
    path => below(path, 'embedded-postgres'),
    one => ['embedded-postgres', 'platform', 'kernel'].some(folder => below(one.from, folder))
  ),
  {
    name: 'PostgreSQL is used through the files of its folder, and not through those of its inner folders',
    check: ({ path, isTest, imports }) =>
      isTest || below(path, 'platform')
        ? []
        : imports
            .filter(({ from }) => /^src\/platform\/postgres\/.+\//.test(from))
            .map(({ from }) => `imports ${from}`)
  },
  wall(
    'the gateway imports kernel and platform alone',
    path => below(path, 'gateway'),
    one => ['gateway', 'platform', 'kernel'].some(folder => below(one.from, folder))
  ),
  wall(
    'the payment sandbox imports the kernel alone, and only its provider loads it',
    path => path.startsWith('src/'),
    ({ from }, path) =>
      below(path, 'payment-sandbox')
        ? below(from, 'payment-sandbox') || below(from, 'kernel')
        : !below(from, 'payment-sandbox') || path === SANDBOX_LOADER
  ),
  wall(
    'a module imports itself, the kernel, what it may of the platform, and the gateway in its routes',
    path => below(path, 'modules'),
    mayModuleImport
  ),
  wall(
    'the only way into a module is its index.ts, for values from another index.ts only',
    () => true,
    (one, path) =>
      !below(one.from, 'modules') ||
      isOwn(one.from, path) ||
      (isFake(one.from) && path === 'src/testing.ts') ||
      (isDoor(one.from) && (!below(path, 'modules') || isDoor(path) || isType(one)))
  ),
  {
    name: 'a module imports modules to its left in the order of modules only',
    check: ({ path, isTest, imports }) => {
      const own = moduleOf(path)
      if (own === undefined || isTest) return []
      const place = MODULE_ORDER.indexOf(own)
      if (place < 0) return ['belongs to a module without a place in the order']
      const isLeft = (name: string) => MODULE_ORDER.slice(0, place).includes(name)
      return imports
        .map(({ from }) => moduleOf(from))
        .filter(name => name !== undefined && name !== own && !isLeft(name))
        .map(name => `imports ${name}, which is not to its left`)
    }
  },
  {
    name: 'fastify is known to the gateway and to routes only',
    check: ({ path, isTest, imports }) =>
      imports
        .filter(
          ({ from }) =>
            /^@?fastify(?:\/|$)/.test(from) && !isTest && !below(path, 'gateway') && !isRoutes(path)
        )
        .map(({ from }) => `imports ${from}`)
  },
  {
    name: 'gateway and platform know no module by its name',
    check: ({ path, isTest, texts, names }) =>
      isTest || !(below(path, 'gateway') || below(path, 'platform'))
        ? []
        : [...texts, ...names].filter(text => modulesNamedIn(text).length > 0).map(text => `says ${text}`)
  },
  onlyIn('a route says what it is for', 'a route without a class', path => !isRoutes(path)),
  onlyIn(
    'an unsafe route hands its write on, or says why it has none',
    'an unsafe route that hands no write on',
    path => !isRoutes(path)
  ),
  onlyIn(
    'an accessor belongs to a class, because V8 makes a hidden class for each object literal with one',
    'an accessor of an object literal',
    path => /^(?:test|bench)\/|^src\/test-requests\.ts$|\.test\.ts$/.test(path)
  ),
  onlyIn('the environment is read by config.ts only', 'process.env', path =>
    /^(?:src\/config\.ts$|test\/|bench\/)|\.test\.ts$/.test(path)
  ),
  {
    name: 'SQL stands in repositories and in the platform only',
    check: ({ path, isTest, deeds }) =>
      deeds.has('SQL') && !isTest && !SQL_PLACES.test(path) ? ['has SQL'] : []
  },
  {
    name: "a module's SQL names its own schema, and names it always",
    check: ({ path, isTest, texts }) =>
      isTest || !below(path, 'modules')
        ? []
        : texts
            .filter(isSql)
            .flatMap(tablesOf)
            .filter(({ schema }) => schema !== moduleOf(path))
            .map(
              ({ schema, table }) => `names the table ${schema === undefined ? table : `${schema}.${table}`}`
            )
  },
  {
    name: 'levels of stock are locked and changed by their writer alone',
    check: ({ path, isTest, texts }) =>
      isTest || !below(path, 'modules') || path === LEVELS_WRITER
        ? []
        : texts.filter(text => TAKES_LEVELS.test(text)).map(() => 'locks or changes levels')
  },
  {
    name: 'a statement is called after its module',
    check: ({ path, isTest, statements }) =>
      isTest || !below(path, 'modules')
        ? []
        : statements.filter(name => !name.startsWith(`${moduleOf(path)}.`)).map(name => `declares ${name}`)
  },
  {
    name: 'no object spreads an object that is written in place',
    check: ({ text }) => (SPREADS_LITERAL.test(text) ? ['spreads an object literal'] : [])
  },
  {
    name: 'what belongs to a transaction is kept by createTransactionValue, because V8 frees entries of a WeakMap late',
    check: ({ text, isTest }) =>
      !isTest && /\bWeakMap<Transaction\b/.test(text) ? ['keeps transactions in a WeakMap'] : []
  },
  {
    name: 'a folder says what is in it',
    check: ({ path }) => (SHAPELESS.test(path) ? ['lies in a folder for anything'] : [])
  },
  {
    name: "a module's files lie in the folders of its nouns, but for its declarations and its set-up",
    check: ({ path, isTest }) => {
      const [file = '', ...folders] = path.split('/').slice(3).reverse()
      if (moduleOf(path) === undefined || isTest) return []
      if (folders.length > 1) return ['lies in a folder within a folder']
      return folders.length === 0 && !MODULE_ROOT.test(file) ? ['lies in no folder'] : []
    }
  },
  {
    name: "a file does not repeat its folder's name",
    check: ({ path }) => {
      const [file = '', folder = ''] = path.split('/').reverse()
      return file.startsWith(`${folder}-`) ? [`could be ${file.slice(folder.length + 1)}`] : []
    }
  },
  {
    name: 'no file is longer than 300 lines, no test than 600',
    check: ({ text, isTest }) => {
      const lines = text.split('\n').length - 1
      return lines > (isTest ? LINES_MAX.test : LINES_MAX.source) ? [`has ${lines} lines`] : []
    }
  },
  {
    name: 'a test waits for a minute at least, because a busy machine is no reason to fail',
    check: ({ path, text, isTest }) =>
      isTest && path !== WAITS
        ? [...text.matchAll(/vi\.waitFor\(|\btimeout: (?:\d|[1-5]\d)_000\b/g)].map(([wait]) => `has ${wait}`)
        : []
  },
  onlyIn('nothing is exported by default', 'a default export', () => false),
  {
    name: 'a route decides nothing',
    check: ({ path, deeds }) =>
      isRoutes(path) && !(path in BRANCHING_ROUTES)
        ? (['if', 'try'] as const).filter(deed => deeds.has(deed)).map(deed => `has ${deed}`)
        : []
  }
]

const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/'))

/** Ways along the arrows that come back to where they began, one for each arrow that closes one. */
function circlesIn(arrows: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const circles: string[] = []
  const left = new Set<string>()
  const follow = (from: string, way: readonly string[]): void => {
    if (way.includes(from)) circles.push([...way.slice(way.indexOf(from)), from].join(' > '))
    else if (!left.has(from)) for (const to of arrows.get(from) ?? []) follow(to, [...way, from])
    left.add(from)
  }
  for (const from of arrows.keys()) follow(from, [])
  return circles
}

/** An inner folder is a part of its outer folder, so imports between the two are no circle. */
const isWithin = (a: string, b: string) => a.startsWith(`${b}/`) || b.startsWith(`${a}/`)

/** What imports what, by the name that a place has; places without one, and those that are the same, are left out. */
function arrowsOf(
  files: readonly SourceFile[],
  nameOf: (path: string) => string | undefined,
  isSame: (a: string, b: string) => boolean = (a, b) => a === b
) {
  const arrows = new Map<string, Set<string>>()
  for (const { path, isTest, imports } of files) {
    const name = nameOf(path)
    if (isTest || name === undefined) continue
    const to = arrows.get(name) ?? new Set()
    arrows.set(name, to)
    for (const { from } of imports) {
      const target = nameOf(from)
      if (target !== undefined && target !== name && !isSame(target, name)) to.add(target)
    }
  }
  return arrows
}

/** Pairs of folders that import each other, by module. */
export function folderPairsOf(files: readonly SourceFile[]): Map<string, string[]> {
  const arrows = arrowsOf(files, path => /^src\/modules\/[^/]+\/[^/]+(?=\/)/.exec(path)?.[0])
  const pairs = new Map<string, string[]>()
  for (const [from, targets] of arrows)
    for (const to of targets) {
      const module = moduleOf(`${from}/`)
      if (module === undefined || module !== moduleOf(`${to}/`)) continue
      if (from < to && arrows.get(to)?.has(from))
        pairs.set(module, [...(pairs.get(module) ?? []), `${from} <> ${to}`])
    }
  return pairs
}

export const houseRules: readonly HouseRule[] = [
  {
    name: 'no file imports itself by way of others',
    check: files => circlesIn(arrowsOf(files, path => (path.startsWith('src/') ? path : undefined)))
  },
  {
    name: 'no folder of gateway or platform imports itself by way of others',
    check: files =>
      circlesIn(
        arrowsOf(
          files,
          path => (/^src\/(?:gateway|platform)\/.+\//.test(path) ? folderOf(path) : undefined),
          isWithin
        )
      )
  },
  {
    name: 'folders of a module import each other in one direction, but for the pairs of before',
    check: files =>
      [...folderPairsOf(files)].flatMap(([module, pairs]) =>
        pairs.length > (FOLDER_PAIRS_MAX[module] ?? 0) ? pairs : []
      )
  },
  {
    name: 'every setting is read by whom it belongs to',
    check: files => {
      const readBelow = (folder: string, declaration: string) =>
        new Set(
          files
            .filter(({ path, isTest }) => path.startsWith(folder) && !isTest && path !== declaration)
            .flatMap(({ reads }) => [...reads])
        )
      return files
        .filter(({ path, isTest, settings }) => path.startsWith('src/') && !isTest && settings.length > 0)
        .flatMap(({ path, settings }) => {
          const owner = moduleOf(path)
          const read = readBelow(owner === undefined ? 'src/' : `src/modules/${owner}/`, path)
          return settings
            .filter(key => !read.has(key))
            .map(key => `${path} declares ${key}, which no code reads`)
        })
    }
  }
]
