import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../support/program.ts'
import { usePrimaryAndStandby } from '../support/standby.ts'
import { useLimitedDatabase } from './connection-limit.ts'
import { until } from './until.ts'

const CONNECTIONS = 100

/** The real program, whose database goes away once it has some connections. */
async function useInterruptedStart() {
  const database = await useLimitedDatabase(CONNECTIONS)
  const program = startProgram({ DATABASE_URL: database.url, CARTWRIGHT__SHOP__DEMO: 'off' })
  onTestFinished(async () => {
    program.child.kill('SIGKILL')
    await program.ended
  })
  // So many: two for reads, the listener, one for migrations, and some of the proofs of sessions and the probes.
  await until('the program has opened its connections', () => database.accepted() >= 7, 20_000)
  database.setLimit(0)
  database.endAll()
  return { database, program }
}

test('a database that rejects connections for a moment delays the start', {
  timeout: 60_000
}, async () => {
  const { database, program } = await useInterruptedStart()
  await until('the program has tried to connect three times', () => database.refused() >= 3, 20_000)
  database.setLimit(CONNECTIONS)
  const address = await program.listening
  expect((await fetch(`${address}/readyz`)).status).toBe(200)
})

test('a database that disappears during the start ends the process with one sentence', async () => {
  const { program } = await useInterruptedStart()
  const { code, stderr } = await program.ended
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^(The database became unavailable while the shop started|Cannot reach the database): .+\n$/
  )
})

test.each([[['start']], [['start', '--workers', '2']]])(
  'a start against a standby ends with one sentence and exit code 1: %j',
  async args => {
    const { standby } = await usePrimaryAndStandby()
    const program = startProgram({ DATABASE_URL: standby.url }, { args })
    onTestFinished(() => void program.child.kill('SIGKILL'))
    const { code, stderr } = await program.ended
    expect([code, stderr]).toEqual([
      1,
      'The database is a standby, which can only be read. Let DATABASE_URL (database.url) name the primary, or set ' +
        'database.read_only to serve public pages only.\n'
    ])
    expect(program.output.stdout).not.toContain('listening')
  }
)
