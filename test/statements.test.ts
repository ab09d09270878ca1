import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import '../src/app.ts'
import { constraintsWithDeclaredErrors } from '../src/kernel/errors.ts'
import { LIST_TOTAL_MAX } from '../src/kernel/pages.ts'
import {
  createPgClient,
  forceCustomPlanSettings,
  keyLookupPlannerSettings,
  noSequentialScanSettings,
  pgClientConfig
} from '../src/platform/postgres/connect.ts'
import { listDeclaredStatements, type Statement } from '../src/platform/postgres/statement.ts'
import { createTestDatabase } from './support/database.ts'

// Lane alone: it reads every statement that is declared so far, and other tests declare some.

let database: Awaited<ReturnType<typeof createTestDatabase>>
let client: pg.Client
/** Connected like what writes. */
let planner: pg.Client
let typeNames: Map<number, string>
let nullable: Set<string>
beforeAll(async () => {
  database = await createTestDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const limits = { statementTimeoutMs: 5_000, lockTimeoutMs: 200 }
  planner = createPgClient(pgClientConfig({ url: database.url, ...limits }, noSequentialScanSettings))
  await planner.connect()
  const types = await client.query<{ oid: number; name: string }>(
    'select oid::int4, format_type(oid, null) as name from pg_type'
  )
  typeNames = new Map(types.rows.map(({ oid, name }) => [oid, ALIASES[name] ?? name]))
  // Of a view PostgreSQL does not say it, as it does not of an expression.
  const columns = await client.query<{ place: string }>(
    `select attrelid || '.' || attnum as place from pg_attribute join pg_class on pg_class.oid = attrelid
     where not attnotnull and relkind <> 'v'`
  )
  nullable = new Set(columns.rows.map(({ place }) => place))
})
afterAll(async () => {
  await client.end()
  await planner.end()
  await database.drop()
})

/** PostgreSQL's long names of the types that a declaration calls by their short ones. */
const ALIASES: Record<string, string> = {
  boolean: 'bool',
  integer: 'int4',
  bigint: 'int8',
  'double precision': 'float8',
  'timestamp with time zone': 'timestamptz',
  'character varying': 'text',
  'integer[]': 'int4[]',
  'bigint[]': 'int8[]',
  'double precision[]': 'float8[]',
  'boolean[]': 'bool[]'
}

type Field = { name: string; dataTypeID: number; tableID: number; columnID: number }
type Described = { fields: Field[]; parameters: number[] } | { error: string }

/**
 * Parses a statement on the server and asks what it takes and gives (PostgreSQL, "Extended Query": Parse, Describe, Sync),
 * without running it.
 */
function describe(text: string): Promise<Described> {
  return new Promise(resolve => {
    let fields: Field[] = []
    let parameters: number[] = []
    const onParameters = ({ dataTypeIDs }: { dataTypeIDs: number[] }) => {
      parameters = dataTypeIDs
    }
    const query = {
      submit: (connection: pg.Connection) => {
        connection.once('parameterDescription', onParameters)
        connection.parse({ name: '', text, types: [] }, true)
        connection.describe({ type: 'S', name: '' }, true)
        connection.sync()
      },
      handleRowDescription: (description: { fields: Field[] }) => {
        fields = description.fields
      },
      handleError: ({ message }: Error) => resolve({ error: message }),
      handleReadyForQuery: () => resolve({ fields, parameters })
    }
    client.query(query as unknown as pg.Submittable)
  })
}

/** What the server is given. */
const parametersOf = ({
  takes,
  isForEach
}: {
  takes: Statement['takes']
  isForEach: boolean
}): Statement['takes'] => (isForEach ? { rows: 'jsonb' } : takes)

/** What is wrong with the declaration of a statement; empty when it fits. */
async function faultsOf({
  takes,
  gives,
  text,
  isForEach = false
}: Pick<Statement, 'takes' | 'gives' | 'text'> & { isForEach?: boolean }): Promise<string[]> {
  const described = await describe(text)
  if ('error' in described) return [described.error]
  const taken = Object.entries(parametersOf({ takes, isForEach }))
  const wrong = described.parameters.flatMap((type, index) => {
    const [name, declared = ''] = taken[index] ?? []
    const wanted = typeNames.get(type)
    return taken.length > 0 && declared.replace('?', '') !== wanted ? [`takes ${name} as ${wanted}`] : []
  })
  if (wrong.length > 0) return wrong
  // A function called for what it does answers nothing, in a column.
  const given = described.fields.filter(field => typeNames.get(field.dataTypeID) !== 'void')
  const declared = Object.entries(gives)
  if (given.map(field => field.name).join() !== declared.map(([name]) => name).join())
    return [`gives ${given.map(field => field.name).join(', ')}`]
  return given.flatMap((field, index) => {
    const type = typeNames.get(field.dataTypeID)
    const [name, wanted = ''] = declared[index] ?? []
    if (type !== wanted.replace('?', '')) return [`gives ${name} as ${type}`]
    const mayBeNull = nullable.has(`${field.tableID}.${field.columnID}`)
    return mayBeNull && !wanted.endsWith('?') ? [`gives ${name}, which may be null`] : []
  })
}

test('every statement is valid in the migrated schema and returns the columns that it declares', async () => {
  const statements = listDeclaredStatements()
  expect(statements.length).toBeGreaterThan(40)
  const faults: Record<string, string[]> = {}
  for (const statement of statements) {
    const found = await faultsOf(statement)
    if (found.length > 0) faults[statement.name] = found
  }
  expect(faults).toEqual({})
})

test.each<[string, Statement['takes'], string[]]>([
  ['delete from cart.items where variant_id = $1', { id: 'uuid' }, []],
  ['delete from cart.items where variant_id = $1', { id: 'text' }, ['takes id as uuid']],
  [
    'delete from cart.items where quantity = $1 and variant_id = any ($2)',
    { n: 'int8', ids: 'uuid[]' },
    ['takes n as int4']
  ],
  ['delete from cart.items where quantity = $1', { n: 'int4?' }, []],
  [
    'delete from cart.items where true = any ($1) or 1.5 = any ($2::float8[])',
    { a: 'bool[]', b: 'float8[]' },
    []
  ]
])('the parameter check of the statement %s with %j reports %j', async (text, takes, faults) => {
  expect(await faultsOf({ text, takes, gives: {} })).toEqual(faults)
})

const key = 'select fingerprint, status from cartwright.idempotency_keys'
test.each<[string, Statement['gives'], string[]]>([
  ['select a from nowhere.nothing', {}, ['relation "nowhere.nothing" does not exist']],
  ['selekt 1', {}, ['syntax error at or near "selekt"']],
  ['select 1 as a, now() as b', { a: 'int4', b: 'timestamptz' }, []],
  ['select 1 as a, now() as b', { b: 'timestamptz', a: 'int4' }, ['gives a, b']],
  ['select 1 as a, 2 as b', { a: 'int4' }, ['gives a, b']],
  ['select 1::bigint as a', { a: 'int4' }, ['gives a as int8']],
  ['select array[1]::text[] as a', { a: 'text' }, ['gives a as text[]']],
  [key, { fingerprint: 'bytea', status: 'int4' }, ['gives status, which may be null']],
  [key, { fingerprint: 'bytea?', status: 'int4?' }, []],
  ['select pg_advisory_xact_lock(1)', {}, []],
  ['delete from cartwright.idempotency_keys', {}, []]
])('the column check of the statement %s with %j reports %j', async (text, columns, faults) => {
  expect(await faultsOf({ text, takes: {}, gives: columns })).toEqual(faults)
})

type Planned = Pick<Statement, 'takes' | 'text'> & { isForEach?: boolean }
type Plan = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  'Recheck Cond'?: string
  Plans?: Plan[]
}
/** Returns the tables whose rows a plan reads completely, by a scan or in index order. */
const readWhole = (plan: Plan): string[] => {
  const isLookup = plan['Index Cond'] !== undefined || plan['Recheck Cond'] !== undefined
  const isRead = plan['Relation Name'] !== undefined && / Scan$/.test(plan['Node Type'])
  const here = isRead && !isLookup ? [plan['Relation Name'] ?? ''] : []
  return [...here, ...(plan.Plans ?? []).flatMap(readWhole)]
}

/** Returns the conditions of the index scans of a plan; `undefined` when it reads a whole index. */
const lookUps = (plan: Plan): (string | undefined)[] => [
  ...(plan['Index Name'] === undefined ? [] : [plan['Index Cond']]),
  ...(plan.Plans ?? []).flatMap(lookUps)
]

/** Returns the tables that a statement reads completely when it is prepared now. */
const wholeTablesOf = async (statement: Planned): Promise<string[]> =>
  (await plansOf(statement)).flatMap(readWhole)

/** Returns the plans of a statement that is prepared now, by default on a connection for writes. */
async function plansOf({ takes, text, isForEach = false }: Planned, session = planner): Promise<Plan[]> {
  const values = Object.keys(parametersOf({ takes, isForEach })).map(() => 'null')
  await session.query(`prepare planned as ${text}`)
  try {
    const given = values.length === 0 ? '' : `(${values.join()})`
    const { rows } = await session.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `explain (format json) execute planned${given}`
    )
    return rows.map(row => row['QUERY PLAN'][0].Plan)
  } finally {
    await session.query('deallocate planned')
  }
}

const nodesOf = (plan: Plan): string[] => [plan['Node Type'], ...(plan.Plans ?? []).flatMap(nodesOf)]

test('no statement starts parallel workers on the connections of its kind', async () => {
  const limits = { statementTimeoutMs: 5_000, lockTimeoutMs: 200 }
  const parallel: string[] = []
  for (const [kind, planning, isOnThese] of [
    ['reads', keyLookupPlannerSettings, ({ isSlow, mayLock }: Statement) => !isSlow && !mayLock],
    ['writes', noSequentialScanSettings, ({ mayLock }: Statement) => mayLock],
    ['slow reads', forceCustomPlanSettings, ({ isSlow }: Statement) => isSlow]
  ] as const) {
    const session = createPgClient(pgClientConfig({ url: database.url, ...limits }, planning))
    await session.connect()
    // Parallel plans cost nothing extra here, so that every version of PostgreSQL prefers them wherever it may.
    await session.query('set parallel_setup_cost = 0')
    await session.query('set parallel_tuple_cost = 0')
    await session.query('set min_parallel_table_scan_size = 0')
    const isPlannable = ({ text }: Statement) => /^\s*(?:with|select|insert|update|delete)\b/i.test(text)
    const statements = listDeclaredStatements().filter(each => isOnThese(each) && isPlannable(each))
    expect(statements.length, kind).toBeGreaterThan(20)
    for (const statement of statements) {
      const nodes = (await plansOf(statement, session)).flatMap(nodesOf)
      if (nodes.some(node => node.startsWith('Gather'))) parallel.push(statement.name)
    }
    await session.end()
  }
  expect(parallel).toEqual([])
})

test('statements that write carts and idempotency keys use indexes even when planned on empty tables', async () => {
  await client.query('vacuum cartwright.idempotency_keys, cart.carts, cart.items')
  const isSweep = (name: string) => /expired|merged/.test(name)
  const statements = listDeclaredStatements().filter(
    ({ name, mayLock, isForEach }) =>
      isForEach || (mayLock && /^(idempotency|cart)\./.test(name) && !isSweep(name))
  )
  expect(statements.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['idempotency.mark_key_applied', 'cart.save_unchanged_carts'])
  )
  const whole: Record<string, string[]> = {}
  for (const statement of statements) {
    const tables = await wholeTablesOf(statement)
    if (tables.length > 0) whole[statement.name] = tables
  }
  expect(whole).toEqual({})
})

test.each([
  ['claim', '(owner = ANY ($))'],
  ['confirm', '(owner = $)']
])(
  'the statement %s of reservations looks them up by owner with an index, even when planned on an empty table',
  async (verb, lookUp) => {
    await client.query('vacuum inventory.reservations')
    const [statement] = listDeclaredStatements().filter(
      ({ name }) => name === `inventory.${verb}_reservations`
    )
    if (statement === undefined) throw new Error('there is no such statement')
    const found = (await plansOf(statement)).flatMap(lookUps)
    // Each PostgreSQL version names the result of an earlier part of the statement differently.
    expect(found.map(each => each?.replace(/\$\d+|\(InitPlan \d+\)\.col1/, '$'))).toEqual([lookUp])
  }
)

test.each<[string, string[]]>([
  ['delete from cartwright.idempotency_keys where fingerprint = $1', ['idempotency_keys']],
  [
    `update cart.carts c set quantity = 0 from unnest($1::uuid[]) as given (cart_id) where c.cart_id = given.cart_id`,
    ['carts']
  ],
  [`update cart.carts set quantity = 0 where cart_id = $1`, []]
])(
  'the check of plans finds that the statement %s reads whole tables when planned on empty ones: %j',
  async (text, tables) => {
    expect(await wholeTablesOf({ takes: { given: 'bytea' }, text })).toEqual(tables)
  }
)

/** Counts that no list returns, or whose callers need the exact number. */
const EXACT_COUNTS = [
  'catalog.count_variants',
  'payments.measure_open_operations',
  'pricing.count_automatic_promotions',
  'webhooks.count_replayable',
  'cart.count_items',
  'orders.count_pending',
  'outbox.count_failed',
  'payments.count_orphans',
  'payments.count_quarantined',
  'payments.count_waiting'
]

/** Counts that also enforce the row limit of their table, which exceeds the total of a list. */
const LIMITED_TABLES = [
  'pricing.count_tax_zones',
  'pricing.count_tax_rates',
  'pricing.count_tax_exemptions',
  'shipping.count_rates'
]

test('the counting statements of lists stop one above the largest total that a list reports', () => {
  const counts = listDeclaredStatements().filter(({ text }) =>
    /select count\(\*\)(?:::int)? as total/.test(text)
  )
  expect(counts.length).toBeGreaterThan(40)
  const limitOf = ({ text }: Statement) =>
    Number(/ limit (\d+)\)/.exec(text)?.[1] ?? Number.POSITIVE_INFINITY)
  const isBounded = (each: Statement) =>
    limitOf(each) === LIST_TOTAL_MAX + 1 || (LIMITED_TABLES.includes(each.name) && limitOf(each) <= 20_001)
  const unbounded = counts.filter(each => !isBounded(each)).map(({ name }) => name)
  expect(unbounded.filter(name => !EXACT_COUNTS.includes(name))).toEqual([])
})

test('every constraint that an error declares exists in the migrated schema', async () => {
  const { rows } = await client.query<{ name: string }>(
    `select nspname || '.' || conname as name from pg_constraint join pg_namespace n on n.oid = connamespace
     union
     select nspname || '.' || relname from pg_index join pg_class c on c.oid = indexrelid
     join pg_namespace n on n.oid = relnamespace where indisunique`
  )
  const known = new Set(rows.map(({ name }) => name))
  expect(constraintsWithDeclaredErrors().filter(name => !known.has(name))).toEqual([])
  expect(known.has('cart.items_quantity')).toBe(true)
})
