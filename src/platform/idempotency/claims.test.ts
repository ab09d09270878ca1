import { randomBytes, randomUUID } from 'node:crypto'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, testDatabaseOptions } from '../../../test/support/database.ts'
import { freePort } from '../../../test/support/free-port.ts'
import { type Database, openDatabase } from '../postgres/database.ts'
import {
  createIdempotencyKeyClaims,
  type IdempotencyClaimOutcome,
  type IdempotencyKeyClaim,
  markIdempotencyKeyApplied
} from './claims.ts'
import { findIdempotencyKey, type IdempotencyKeyRow, insertIdempotencyKeys } from './keys.ts'

test('eight callers that wait for an idempotency key share the lookups of their process', async () => {
  const fingerprint = randomBytes(32)
  const held = { fingerprint, state: 'running', is_held: true, is_expired: false } as IdempotencyKeyRow
  const sent: unknown[] = []
  const db = {
    batchCalls:
      <I, O>(work: (items: readonly I[]) => Promise<readonly O[]>) =>
      async (item: I) =>
        (await work([item]))[0],
    rows: async (statement: unknown) => {
      sent.push(statement)
      return []
    },
    first: async (statement: unknown) => {
      sent.push(statement)
      return held
    }
  } as unknown as Database
  const claims = createIdempotencyKeyClaims(db)
  onTestFinished(() => claims.close())
  const key = { keyHash: Buffer.from(randomUUID()), fingerprint }
  const startedAt = performance.now()
  const waits = Array.from({ length: 8 }, () => claims.claim(key, () => () => {}))
  expect((await Promise.all(waits)).map(({ kind }) => kind)).toEqual(Array(8).fill('running'))

  const looks = (performance.now() - startedAt) / 50
  expect(sent.filter(statement => statement === insertIdempotencyKeys)).toHaveLength(8)
  expect(sent.filter(statement => statement === findIdempotencyKey).length).toBeLessThanOrEqual(
    8 + Math.ceil(looks)
  )
})

const newKey = () => ({ keyHash: randomBytes(32), fingerprint: randomBytes(32) })
const withoutWait = () => () => {}

/** Claims on a separate database, a count of the statements they sent, and a second client. */
async function useClaims() {
  const { url, drop } = await createTestDatabase()
  const statements: string[] = []
  const db = openDatabase({ ...testDatabaseOptions(url), onStatement: name => statements.push(name) })
  const claims = createIdempotencyKeyClaims(db)
  const beside = new pg.Client({ connectionString: url })
  await beside.connect()
  onTestFinished(async () => {
    claims.close()
    await beside.end()
    await db.close()
    await drop()
  })
  return {
    db,
    claims,
    beside,
    claim: (key: ReturnType<typeof newKey>) => claims.claim(key, withoutWait),
    sent: (name: string) => statements.filter(each => each === `idempotency.${name}`).length
  }
}
function claimOf(outcome: IdempotencyClaimOutcome): IdempotencyKeyClaim {
  if (outcome.kind !== 'claimed') throw new Error(`the key is ${outcome.kind}`)
  return outcome.claim
}

test('simultaneous claims of idempotency keys share one statement, and each gets the outcome of its own key', async () => {
  const { db, claims, claim, beside, sent } = await useClaims()
  const [done, running, free, applied, expired] = [newKey(), newKey(), newKey(), newKey(), newKey()]
  const fresh = Array.from({ length: 20 }, newKey)
  await claims.finish(claimOf(await claim(done)), 201, Buffer.from('kept'))
  await claim(running)
  const given = claimOf(await claim(free))
  await claims.release(given)
  const committed = claimOf(await claim(applied))
  await db.transaction(tx => markIdempotencyKeyApplied(tx, committed, null))
  const old = claimOf(await claim(expired))
  await beside.query('update cartwright.idempotency_keys set expires_at = now() where key_hash = $1', [
    expired.keyHash
  ])

  const before = sent('insert_keys')
  const other = { ...done, fingerprint: randomBytes(32) }
  const otherOfRunning = { ...running, fingerprint: randomBytes(32) }
  const stillRunning = claim(running)
  const outcomes = [done, other, otherOfRunning, free, applied, expired, ...fresh].map(claim)
  const [replay, reused, alsoReused, again, note, renewed, ...claimed] = await Promise.all(outcomes)
  expect(sent('insert_keys') - before).toBe(1)
  expect(replay).toEqual({ kind: 'done', status: 201, answer: Buffer.from('kept') })
  expect([reused?.kind, alsoReused?.kind]).toEqual(['reused', 'reused'])
  expect(again).toMatchObject({ claim: { operationId: given.operationId, isApplied: false } })
  expect(note).toMatchObject({ claim: { operationId: committed.operationId, isApplied: true } })
  expect(claimOf(renewed as IdempotencyClaimOutcome).operationId).not.toBe(old.operationId)
  expect(new Set(claimed.map(each => claimOf(each).operationId)).size).toBe(20)
  const { rows } = await beside.query<{ key_hash: Buffer; lease: string; operation_id: string }>(
    `select key_hash, lease, operation_id from cartwright.idempotency_keys where state = 'running'`
  )
  for (const [index, each] of claimed.entries()) {
    const { lease, operationId } = claimOf(each)
    const row = rows.find(({ key_hash }) => key_hash.equals(fresh[index]?.keyHash ?? Buffer.of()))
    expect(row).toMatchObject({ lease, operation_id: operationId })
  }
  expect((await stillRunning).kind).toBe('running')
})

test('of two claims of one idempotency key in a batch, only one succeeds', async () => {
  const { claims, claim } = await useClaims()
  const key = newKey()
  const both = [claim(key), claim(key)]
  const first = claimOf(await Promise.race(both))
  await claims.finish(first, 204, Buffer.of(1))
  const kinds = (await Promise.all(both)).map(({ kind }) => kind)
  expect(kinds.toSorted()).toEqual(['claimed', 'done'])
  const third = newKey()
  const otherBody = { ...third, fingerprint: randomBytes(32) }
  const others = (await Promise.all([claim(third), claim(otherBody)])).map(({ kind }) => kind)
  expect(others.toSorted()).toEqual(['claimed', 'reused'])
})

test('simultaneous responses are stored in one statement, each under its own idempotency key', async () => {
  const { claims, claim, db, sent } = await useClaims()
  const all = Array.from({ length: 30 }, newKey)
  const held = (await Promise.all(all.map(claim))).map(claimOf)
  const [lost] = held as [IdempotencyKeyClaim]
  await claims.release(lost)
  const taken = all[0] as ReturnType<typeof newKey>
  const taker = claimOf(await claim(taken))
  await db.transaction(tx => markIdempotencyKeyApplied(tx, taker, null))
  const answerOf = (index: number) => Buffer.from(`answer ${index}`)
  await Promise.all(held.slice(1).map((each, at) => claims.finish(each, 201 + at, answerOf(at + 1))))
  expect(sent('finish_keys')).toBe(1)
  // A key that was taken over is no reason to try again.
  await claims.finish(lost, 200, answerOf(0))
  expect(sent('finish_keys')).toBe(2)
  const [, ...others] = await Promise.all(all.slice(1).map(claim))
  for (const [index, each] of others.entries())
    expect(each).toEqual({ kind: 'done', status: 202 + index, answer: answerOf(index + 2) })
  // The first claim was taken over. The retry that finds the write committed stores the response.
  const found = claimOf(await claim(taken))
  expect(found.isApplied).toBe(true)
  await claims.finish(found, 299, Buffer.from('last'))
  await claims.finish(taker, 298, Buffer.from('late'))
  expect(sent('finish_keys')).toBe(4)
  expect(await claim(taken)).toEqual({ kind: 'done', status: 299, answer: Buffer.from('last') })
})

test('a response is stored although another attempt has locked its idempotency key for a moment', async () => {
  const { claims, claim, beside, sent } = await useClaims()
  const [finished, released] = [newKey(), newKey()]
  const [one, other] = [claimOf(await claim(finished)), claimOf(await claim(released))]
  await beside.query('begin; select * from cartwright.idempotency_keys for update')
  const ended = Promise.all([claims.finish(one, 201, Buffer.of(1)), claims.release(other)])
  await expect.poll(() => sent('finish_keys') > 0 && sent('release_key') > 0).toBe(true)
  await beside.query('commit')
  await ended
  expect(await claim(finished)).toEqual({ kind: 'done', status: 201, answer: Buffer.of(1) })
  expect(claimOf(await claim(released))).toMatchObject({ operationId: other.operationId, isApplied: false })
})

test('a transaction that locks its idempotency key delays no other claim of the batch', async () => {
  const { claims, claim, db } = await useClaims()
  const [marked, finishing] = [newKey(), newKey()]
  const [holder, ready] = (await Promise.all([marked, finishing].map(claim))).map(claimOf) as [
    IdempotencyKeyClaim,
    IdempotencyKeyClaim
  ]
  const done = Promise.withResolvers<void>()
  const isMarked = Promise.withResolvers<void>()
  const work = db.transaction(async tx => {
    await markIdempotencyKeyApplied(tx, holder, null)
    isMarked.resolve()
    await done.promise
  })
  await isMarked.promise
  const waits = claim(marked)
  const others = await Promise.all(Array.from({ length: 20 }, () => claim(newKey())))
  expect(others.map(({ kind }) => kind)).toEqual(Array(20).fill('claimed'))
  // The locked key is skipped, and the other response is stored.
  const late = claims.finish(holder, 200, Buffer.of(1))
  await claims.finish(ready, 200, Buffer.of(2))
  await late
  expect(await claim(finishing)).toMatchObject({ kind: 'done', answer: Buffer.of(2) })
  done.resolve()
  await work
  expect(claimOf(await waits)).toMatchObject({ operationId: holder.operationId, isApplied: true })
})

test('without a database every claim of an idempotency key in a batch is rejected as unavailable', async () => {
  const db = openDatabase(testDatabaseOptions(`postgres://nobody@127.0.0.1:${await freePort()}/none`))
  const claims = createIdempotencyKeyClaims(db)
  onTestFinished(async () => {
    claims.close()
    await db.close()
  })
  const tries = await Promise.allSettled(Array.from({ length: 5 }, () => claims.claim(newKey(), withoutWait)))
  for (const each of tries)
    expect(each).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable' } })
})
