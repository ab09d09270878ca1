import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { startProgram } from '../support/program.ts'
import { faultsOf } from '../support/stock-ledger.ts'
import { until } from './until.ts'

const ADMIN = { email: 'boss@example.com', password: 'an uncommon engine poem' }
/** Several batches of an import. */
const PRODUCTS = 400
const SIZES = ['S', 'M']
const VARIANTS = PRODUCTS * SIZES.length

const fileOf = () => {
  const rows = Array.from({ length: VARIANTS }, (_, index) => {
    const [product, size] = [Math.floor(index / SIZES.length), SIZES[index % SIZES.length]]
    return `thing-${product},Thing ${product},Size,${size},${index},10,shopify,${index + 1}`
  })
  const columns = 'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price'
  return `${columns},Variant Inventory Tracker,Variant Inventory Qty\n${rows.join('\n')}\n`
}

/** The real program, which can be killed and started again on the same database. */
async function useShop() {
  const database = await createTestDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const programs: ReturnType<typeof startProgram>[] = []
  onTestFinished(async () => {
    for (const { child } of programs) child.kill('SIGKILL')
    await Promise.all(programs.map(({ ended }) => ended))
    await client.end()
    await database.drop()
  })

  async function start() {
    const program = startProgram({
      DATABASE_URL: database.url,
      CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
      CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password,
      // Only this test holds it up.
      CARTWRIGHT__DATABASE__LOCK_TIMEOUT_MS: '60000',
      CARTWRIGHT__DATABASE__STATEMENT_TIMEOUT_MS: '60000'
    })
    programs.push(program)
    const address = await program.listening
    const send = (path: string, type: string, body: string, token = '') =>
      fetch(`${address}/api${path}`, {
        method: 'POST',
        headers: { 'content-type': type, authorization: `Bearer ${token}` },
        body
      })
    const login = await send('/auth/login', 'application/json', JSON.stringify(ADMIN))
    const { access_token: token } = (await login.json()) as { access_token: string }
    return {
      program,
      importFile: async () => (await send('/catalog/import', 'text/csv', fileOf(), token)).json()
    }
  }
  const sql = async (text: string) => (await client.query(text)).rows
  const expectConsistentStock = async () => expect(await faultsOf(client)).toEqual([])
  return { url: database.url, start, sql, expectConsistentStock }
}

/** Locks rows, so that an import waits. Returns the release. */
async function holdUp(url: string, ...statements: string[]) {
  const otherClient = new pg.Client({ connectionString: url })
  await otherClient.connect()
  await otherClient.query('begin')
  for (const each of statements) await otherClient.query(each)
  return () => otherClient.end()
}

test.each([
  [
    'between two batches',
    `insert into catalog.products (id, slug, name, description, status, tags, options, images, search_text)
     values (gen_random_uuid(), 'thing-${PRODUCTS - 1}', '', '', 'active', '{}', '[]', '[]', '')`,
    'select from inventory.movements limit 1'
  ],
  [
    'before anything is counted',
    `select pg_advisory_xact_lock(hashtextextended('inventory.requests', 0))`,
    'select from inventory.requests limit 1'
  ]
])(
  'a stock import that is killed %s is finished by sending the file again',
  async (_, hold, isReached) => {
    const { url, start, sql, expectConsistentStock } = await useShop()
    const letGo = await holdUp(url, hold)
    const first = await start()
    const broken = first.importFile().catch(() => 'broken')
    await until('the import has reached this step', async () => (await sql(isReached)).length === 1, 30_000)
    first.program.child.kill('SIGKILL')
    expect(await broken).toBe('broken')
    await letGo()

    const second = await start()
    for (const created of [expect.any(Number), 0]) {
      const { variants, errors_total } = (await second.importFile()) as Record<string, unknown>
      expect([variants, errors_total]).toMatchObject([{ created, updated: 0, deactivated: 0 }, 0])
      const isCounted = async () =>
        (await sql('select from inventory.requests where done_at is null')).length === 0
      await until('every row is counted', isCounted, 30_000)
      const counted = await sql(
        `select count(*)::int as variants, count(*) filter (where on_hand = sku::int + 1)::int as right,
         (select count(*)::int from inventory.movements) as movements
       from inventory.levels join inventory.items on items.id = levels.item_id`
      )
      expect(counted).toEqual([{ variants: VARIANTS, right: VARIANTS, movements: VARIANTS }])
      await expectConsistentStock()
    }
  },
  120_000
)
