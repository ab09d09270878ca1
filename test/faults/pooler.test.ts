import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/platform/postgres/database.ts'
import { statement } from '../../src/platform/postgres/statement.ts'
import { createTestDatabase, testDatabaseOptions } from '../support/database.ts'
import { hasPgbouncer, usePgbouncer } from '../support/pgbouncer.ts'
import { startProgram } from '../support/program.ts'
import { useSessionSharingPooler } from './session-sharing-pooler.ts'

const PREFIX = { ignore_startup_parameters: 'options' }

async function usePooler(settings: Record<string, string>) {
  const created = await createTestDatabase()
  onTestFinished(created.drop)
  return { direct: created.url, pooled: await usePgbouncer(created.url, settings) }
}

/** The real program on this database, until it listens or ends. */
async function startOn(environment: Record<string, string>) {
  const program = startProgram(environment)
  onTestFinished(async () => {
    program.child.kill('SIGKILL')
    await program.ended
  })
  const address = await program.listening.catch(() => undefined)
  return { address, program }
}

test.skipIf(!hasPgbouncer).each(['transaction', 'statement'])(
  'the start behind a pooler with pool_mode = %s is refused in one sentence',
  async mode => {
    const { pooled } = await usePooler({ ...PREFIX, pool_mode: mode })
    const { address, program } = await startOn({ DATABASE_URL: pooled })
    expect(address).toBeUndefined()
    const { code, stderr } = await program.ended
    expect([code, stderr.trim().split('\n')]).toEqual([
      1,
      [expect.stringMatching(/^DATABASE_URL .* leads to a pooler .* set it to pool_mode = session, or use/)]
    ])
  }
)

// The session that was used last, or has been free longest, gives two connections each other's session. The previous one does not.
test.each([
  ['last', /^DATABASE_URL .* leads to a pooler .* set it to pool_mode = session, or use/],
  ['oldest', /^DATABASE_URL .* leads to a pooler .* set it to pool_mode = session, or use/],
  [
    'previous',
    /^The database does not deliver messages .* let database\.listen_url name PostgreSQL itself\.$/
  ]
] as const)(
  'the start behind a pooler that keeps prepared statements and loses SET and LISTEN is refused in one sentence (%s session)',
  async (choice, sentence) => {
    const created = await createTestDatabase()
    onTestFinished(created.drop)
    const pooled = await useSessionSharingPooler(created.url, choice)
    const { address, program } = await startOn({ DATABASE_URL: pooled })
    expect(address).toBeUndefined()
    const { code, stderr } = await program.ended
    expect([code, stderr.trim().split('\n')]).toEqual([1, [expect.stringMatching(sentence)]])
  }
)

test.skipIf(!hasPgbouncer)(
  'a pooler that rejects session settings is refused with the setting to change',
  async () => {
    const { pooled } = await usePooler({ pool_mode: 'session' })
    const { program } = await startOn({ DATABASE_URL: pooled })
    const { code, stderr } = await program.ended
    expect(code).toBe(1)
    expect(stderr).toMatch(/unsupported startup parameter.*Add options to ignore_startup_parameters/)
  }
)

test.skipIf(!hasPgbouncer)('the shop works behind a pooler that keeps sessions', async () => {
  const { pooled } = await usePooler({ ...PREFIX, pool_mode: 'session', default_pool_size: '60' })
  const { address } = await startOn({ DATABASE_URL: pooled })
  expect((await fetch(`${address}/readyz`)).status).toBe(200)
  expect((await fetch(`${address}/api/products`)).status).toBe(200)
})

test.skipIf(!hasPgbouncer)(
  'time limits hold behind a pooler that drops the settings of a session',
  async () => {
    const { pooled } = await usePooler({ ...PREFIX, pool_mode: 'session', default_pool_size: '60' })
    const db = openDatabase({ ...testDatabaseOptions(pooled), statementTimeoutMs: 777, lockTimeoutMs: 99 })
    onTestFinished(db.close)
    const limits = statement({
      name: 'test.limits',
      gives: { statement: 'text', lock: 'text', plans: 'text' },
      text: `
      select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
        current_setting('plan_cache_mode') as plans`
    })
    const expected = [{ statement: '777ms', plans: 'force_generic_plan' }]
    expect(await db.rows(limits)).toMatchObject(expected)
    expect(await db.transaction(tx => tx.rows(limits))).toMatchObject([{ ...expected[0], lock: '99ms' }])
  }
)
