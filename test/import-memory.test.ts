import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from './support/database.ts'
import { startProgram } from './support/program.ts'

// Lane long: imports of megabytes take 20 seconds. src/modules/catalog/import has tests of the limits.

const ADMIN = { email: 'boss@example.com', password: 'an uncommon engine poem' }
const RSS_BYTES_MAX = 350 * 1024 * 1024
const CELL = 6_000_000
const ROWS = 30

/** The real program on a database of its own, and an administrator's token. */
async function useShop() {
  const database = await createTestDatabase()
  const program = startProgram({
    DATABASE_URL: database.url,
    CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
    CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password
  })
  onTestFinished(async () => {
    program.child.kill('SIGTERM')
    await program.ended
    await database.drop()
  })
  const address = await program.listening
  const login = await fetch(`${address}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ADMIN)
  })
  const { access_token: token } = (await login.json()) as { access_token: string }
  const importRows = (path: string, rows: Iterable<string>) =>
    fetch(`${address}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv', authorization: `Bearer ${token}` },
      body: Readable.toWeb(Readable.from(rows)) as never,
      duplex: 'half'
    } as RequestInit)
  return { importRows, rssBytesMax: () => rssBytesMaxOf(program.child.pid ?? 0) }
}

/** The most memory that a process has had so far. */
async function rssBytesMaxOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}

const CATALOG = { path: '/api/catalog/import', header: 'Handle,Title,Variant Price' }
const files: Record<string, { path: string; header: string; row: (row: number) => string }> = {
  'handles of 6 MB': { ...CATALOG, row: row => `${row}${'x'.repeat(CELL)},Mug,10\n` },
  'empty cells': { ...CATALOG, row: row => `${row},Mug,10${','.repeat(CELL)}\n` },
  'SKUs of 2 MB': {
    path: '/api/inventory/import',
    header: 'sku,on_hand',
    row: row => `${row}${'x'.repeat(CELL / 3)},1\n`
  }
}

test.runIf(process.platform === 'linux').each(Object.keys(files))(
  'imports of %s end with a short report, and use less than 350 MB of memory',
  { timeout: 120_000 },
  async name => {
    const { path, header, row } = files[name] as (typeof files)[string]
    const { importRows, rssBytesMax } = await useShop()
    function* rows() {
      yield `${header}\n`
      for (let number = 0; number < ROWS; number++) yield row(number)
    }
    const text = await (await importRows(path, rows())).text()
    expect(text.length).toBeLessThan(100_000)
    const answer = JSON.parse(text)
    const { errors } = answer.report ?? answer
    expect(errors[0].message).toMatch(/A handle is letters|has more than 250000 commas|255 are allowed/)
    expect(await rssBytesMax()).toBeLessThan(RSS_BYTES_MAX)
  }
)
