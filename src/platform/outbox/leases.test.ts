import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { useProxiedDatabase } from '../../../test/faults/postgres-proxy.ts'
import { until } from '../../../test/faults/until.ts'
import { bellModule, cast } from '../../../test/support/bells.ts'
import { testDatabaseOptions } from '../../../test/support/database.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { runSql } from '../../../test/support/sql.ts'
import { useShop } from '../../../test/support/use-shop.ts'
import { newId } from '../../kernel/ids.ts'
import { openDatabase } from '../postgres/database.ts'
import { statement } from '../postgres/statement.ts'
import { type ClaimedJobBatch, createOutboxJobClaims, JobLeaseLostError } from './claims.ts'
import { createHandlerRunner } from './handler-runner.ts'

shareShops()

const lockJob = statement({
  name: 'test.lock_job',
  takes: { lease: 'uuid' },
  text: 'select from cartwright.jobs where lease = $lease for update'
})
const log = pino({ level: 'silent' })

async function useClaims() {
  const { db, sql } = await useShop({ modules: [] })
  await sql('delete from cartwright.jobs')
  const claims = createOutboxJobClaims(db, log)
  onTestFinished(() => claims.close())
  const claim = async (handler: string) => {
    const id = newId()
    const text = `insert into cartwright.jobs (handler, subject, event_id, payload) values ($1, $2, $2, '{}')`
    await sql(text, [handler, id])
    const claimed = await claims.claim(handler, 1)
    if (claimed === undefined) throw new Error('nothing was claimed')
    return claimed
  }
  const secondsLeft = async ({ lease }: ClaimedJobBatch) => {
    const [row] = await sql(
      'select extract(epoch from due_at - now())::float8 as seconds from cartwright.jobs where lease = $1',
      [lease]
    )
    return Number(row?.seconds)
  }
  return { db, sql, claims, claim, secondsLeft }
}

test('the lease of a running job is renewed until the job is settled, unless its row is locked', async () => {
  const { db, sql, claims, claim, secondsLeft } = await useClaims()
  const [kept, locked, left] = [await claim('a'), await claim('b'), await claim('c')]
  const signals = [claims.keepRenewing(kept), claims.keepRenewing(locked)]
  const lefts = async () => (await Promise.all([kept, locked, left].map(secondsLeft))).map(Math.ceil)
  const hasten = () => sql(`update cartwright.jobs set due_at = now() + interval '1 second'`)
  expect(await lefts()).toEqual([15, 15, 15])
  await hasten()
  const endsAt = { ...locked }.leaseEndsAt
  await db.transaction(async tx => {
    await tx.run(lockJob, { lease: locked.lease })
    await claims.renewAll()
  })
  expect(await lefts()).toEqual([15, 1, 1])
  expect([kept.leaseEndsAt > endsAt, locked.leaseEndsAt]).toEqual([true, endsAt])
  claims.settle(kept)
  await hasten()
  await claims.renewAll()
  expect(await lefts()).toEqual([1, 15, 1])
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false])
  // On close, leases that are not settled are released.
  await claims.close()
  expect(await lefts()).toEqual([1, Number.NaN, Number.NaN])
})

test('the lease of a running job is renewed while 40 claims wait for a connection', async () => {
  const { url, directUrl, proxy } = await useProxiedDatabase()
  const db = openDatabase({ ...testDatabaseOptions(url), poolWaitMs: 1_000 })
  const claims = createOutboxJobClaims(db, log)
  onTestFinished(async () => {
    await proxy.restore()
    await claims.close()
    await db.close()
  })
  const id = newId()
  await runSql(
    directUrl,
    `insert into cartwright.jobs (handler, subject, event_id, payload) values ('a', '${id}', '${id}', '{}')`
  )
  const claimed = await claims.claim('a', 1)
  if (claimed === undefined) throw new Error('nothing was claimed')
  claims.keepRenewing(claimed)
  await claims.renewAll()
  const { leaseEndsAt: endsAt } = claimed
  proxy.slow('to_program', 50)
  const others = Array.from({ length: 40 }, () => claims.claim('b', 1))
  await claims.renewAll()
  expect(claimed.leaseEndsAt).toBeGreaterThan(endsAt)
  await Promise.all(others)
})

test('a job whose lease was lost is aborted, and its outcome is not recorded', async () => {
  const { db, sql, claims, claim } = await useClaims()
  const claimed = await claim('a')
  const job = async (_job: object, signal: AbortSignal) => {
    await sql(`update cartwright.jobs set lease = gen_random_uuid(), due_at = 'infinity'`)
    await claims.renewAll()
    expect(signal.aborted).toBe(false)
    claimed.leaseEndsAt = performance.now() + 5_000
    await claims.renewAll()
    expect(signal.reason).toBeInstanceOf(JobLeaseLostError)
  }
  const results: string[] = []
  const delivery = createHandlerRunner({
    db,
    log,
    claims,
    followUps: new Set(),
    name: 'a',
    handler: { runJob: job, timeoutSeconds: 60 },
    count: result => results.push(result),
    signal: new AbortController().signal
  })
  await delivery.handle(claimed)
  expect(results).toEqual([])
  // A settled lease is not renewed, even if this process held it again.
  await sql('update cartwright.jobs set lease = $1', [claimed.lease])
  await claims.renewAll()
  expect(await sql('select attempts, error, due_at::text from cartwright.jobs')).toEqual([
    { attempts: 1, error: null, due_at: 'infinity' }
  ])
})

test("after a failure of a job that cannot be recorded, the job's lease is not renewed", async () => {
  const { db, sql, claims, claim, secondsLeft } = await useClaims()
  const claimed = await claim('a')
  // It cannot be converted to a string.
  const unspeakable = Object.create(null)
  const delivery = createHandlerRunner({
    db,
    log,
    claims,
    followUps: new Set(),
    name: 'a',
    count: () => {},
    signal: new AbortController().signal,
    handler: { runJob: () => Promise.reject(unspeakable), timeoutSeconds: 60 }
  })
  await expect(delivery.handle(claimed)).rejects.toThrow(TypeError)
  await sql(`update cartwright.jobs set due_at = now() + interval '1 second'`)
  await claims.renewAll()
  expect(await secondsLeft(claimed)).toBeLessThan(2)
})

test('the lease of a scheduled job that kills its processes doubles up to 480 s, until one run completes', async () => {
  const { sql, claims, secondsLeft } = await useClaims()
  await claims.ensureSchedules([{ handler: 'a', subject: newId(), eventId: newId(), firstDelaySeconds: 0 }])
  /** Returns the seconds of the lease of a process that dies during the job. */
  const held = async () => {
    const claimed = await claims.claim('a', 1)
    if (claimed === undefined) throw new Error('nothing was claimed')
    claims.keepRenewing(claimed)
    const seconds = await secondsLeft(claimed)
    await claims.renewAll()
    expect(await secondsLeft(claimed)).toBeCloseTo(seconds, -1)
    claims.settle(claimed)
    await sql('update cartwright.jobs set due_at = now()')
    return Math.ceil(seconds)
  }
  const all: number[] = []
  for (let death = 0; death < 9; death += 1) all.push(await held())
  expect(all).toEqual([15, 15, 30, 60, 120, 240, 480, 480, 480])
  await sql('update cartwright.jobs set attempts = 0, lease = null')
  expect(await held()).toBe(15)
  // The failure is recorded, and no process died.
  await sql(`update cartwright.jobs set attempts = 9, error = 'no', lease = null`)
  expect(await held()).toBe(15)
})

test('a long job has a lease of a few seconds, which is renewed while its process lives', async () => {
  const [started, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let runs = 0
  const jobs = bellModule({
    cast: async () => {
      runs += 1
      started.resolve()
      await mayEnd.promise
    }
  })
  const shop = await useShop({ modules: [jobs] })
  await shop.db.transaction(async tx => shop.apiOf(jobs)?.enqueue(tx, cast, {}))
  await started.promise
  const secondsLeft = async () => {
    const [row] = await shop.sql(
      `select extract(epoch from due_at - now())::float8 as seconds from cartwright.jobs where handler = 'bell.cast'`
    )
    return Number(row?.seconds)
  }
  expect(await secondsLeft()).toBeLessThan(16)
  await until('part of the lease has passed', async () => (await secondsLeft()) < 13.5)
  await until('the lease is renewed', async () => (await secondsLeft()) > 14)
  mayEnd.resolve()
  await until('the job is done', async () => Number.isNaN(await secondsLeft()))
  expect(runs).toBe(1)
})
