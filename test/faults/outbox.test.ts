import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { bellModule, CREATE_EFFECTS, earModule } from '../support/bells.ts'
import { createTestDatabase } from '../support/database.ts'
import { startProgram, victimProgram } from '../support/program.ts'
import { runSql } from '../support/sql.ts'
import { useShop } from '../support/use-shop.ts'
import { until } from './until.ts'

// Lane long: processes die, and leases expire, for a minute. src/platform/outbox/outbox.test.ts imitates a process that died.

const VICTIM = victimProgram('outbox-victim')
const PROGRAM = victimProgram('outbox-program')
const EVENTS = 20
/** The number of the event that kills its process. */
const POISON = 3
/** Ends the leases of jobs on their first attempt, which would last 15 seconds. */
const END_FIRST_LEASES =
  'update cartwright.jobs set due_at = now() where attempts = 1 and lease is not null and id > 0'
/** Prolongs the leases of jobs on their second attempt beyond the test. */
const PROLONG_SECOND_LEASES = `
  update cartwright.jobs set due_at = now() + interval '1 hour' where attempts = 2 and lease is not null and id > 0`
const NTHS = Array.from({ length: EVENTS }, (_, index) => index + 1)

test.each(['after_commit', 'mid_batch'])(
  'events of a process that is killed %s are handled once by another process',
  async moment => {
    const shop = await useShop({ modules: [bellModule()] })
    await shop.sql(CREATE_EFFECTS)
    const victim = spawn(process.execPath, [VICTIM, shop.databaseUrl, moment, String(EVENTS)], {
      stdio: 'inherit'
    })
    const [, signal] = await once(victim, 'exit')
    expect(signal).toBe('SIGKILL')
    await useShop({ modules: [bellModule(), earModule('ear')], databaseUrl: shop.databaseUrl })
    await until(
      'all events are handled',
      async () => {
        await shop.sql(END_FIRST_LEASES)
        return (await shop.sql('select from cartwright.jobs where id > 0')).length === 0
      },
      30_000
    )
    const heard = await shop.sql('select nth from public.effects order by nth')
    expect(heard.map(({ nth }) => nth)).toEqual(NTHS)
  }
)

test('an event whose handling kills every process blocks no other event', {
  timeout: 90_000
}, async () => {
  const shop = await useShop({ modules: [bellModule()] })
  await shop.sql(CREATE_EFFECTS)
  const spawnVictim = (count: number) =>
    spawn(process.execPath, [VICTIM, shop.databaseUrl, 'poison', String(count)], { stdio: 'inherit' })
  const heard = async () =>
    (await shop.sql('select nth from public.effects order by nth')).map(({ nth }) => nth)
  let victim = spawnVictim(EVENTS)
  let deaths = 0
  onTestFinished(() => {
    victim.kill('SIGKILL')
  })
  await until(
    'all other events are handled',
    async () => {
      if (victim.signalCode !== null) {
        expect(victim.signalCode).toBe('SIGKILL')
        deaths += 1
        await shop.sql(END_FIRST_LEASES)
        await shop.sql(PROLONG_SECOND_LEASES)
        victim = spawnVictim(0)
      }
      return (await heard()).length === EVENTS - 1
    },
    60_000
  )
  // Once in a batch with all events, and once alone.
  expect(deaths).toBe(2)
  expect(await heard()).toEqual(NTHS.filter(nth => nth !== POISON))
  expect(
    await shop.sql(`select payload ->> 'nth' as nth, attempts from cartwright.jobs where id > 0`)
  ).toEqual([{ nth: String(POISON), attempts: 2 }])
})

test('on SIGTERM a process releases its running jobs immediately', async () => {
  const { url, drop } = await createTestDatabase()
  onTestFinished(drop)
  const program = startProgram(
    { DATABASE_URL: url, CARTWRIGHT__SERVER__DRAIN_SECONDS: '0' },
    { main: PROGRAM }
  )
  onTestFinished(() => {
    program.child.kill('SIGKILL')
  })
  await program.listening
  const jobs = () =>
    runSql(
      url,
      'select lease is not null as leased, attempts, error, due_at <= now() as due from cartwright.jobs'
    )
  await runSql(
    url,
    `insert into cartwright.jobs (handler, subject, event_id, payload)
     values ('patience.wait', gen_random_uuid(), gen_random_uuid(), '{}')`
  )
  await until('the job is leased', async () => (await jobs())[0]?.leased === true)
  program.child.kill('SIGTERM')
  const { code, stdout } = await program.ended
  expect(code).toBe(0)
  // The process does not wait for its whole grace period.
  expect(stdout).toContain('aborted')
  expect(await jobs()).toEqual([{ leased: false, attempts: 0, error: null, due: true }])
})
