import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from './support/database.ts'
import { startProgram } from './support/program.ts'

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
  const importRows = (rows: Iterable<string>) =>
    fetch(`${address}/api/catalog/import`, {
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

const files: Record<string, (row: number) => string> = {
  'handles of 6 MB': row => `${row}${'x'.repeat(CELL)},Mug,10\n`,
  'empty cells': row => `${row},Mug,10${','.repeat(CELL)}\n`
}

test.runIf(process.platform === 'linux').each(Object.keys(files))(
  '180 MB of %s end in a short report, in less than 350 MB of memory',
  { timeout: 120_000 },
  async name => {
    const { importRows, rssBytesMax } = await useShop()
    function* rows() {
      yield 'Handle,Title,Variant Price\n'
      for (let row = 0; row < ROWS; row++) yield files[name]?.(row) ?? ''
    }
    const text = await (await importRows(rows())).text()
    expect(text.length).toBeLessThan(100_000)
    const answer = JSON.parse(text)
    const { errors } = answer.report ?? answer
    expect(errors[0].message).toMatch(/A handle is letters|has more than 250000 commas/)
    expect(await rssBytesMax()).toBeLessThan(RSS_BYTES_MAX)
  }
)
