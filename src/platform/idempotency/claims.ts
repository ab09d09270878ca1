import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../kernel/ids.ts'
import { createSingleFlight } from '../../kernel/single-flight.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import * as keys from './keys.ts'
import { idempotencyKeyInProgressError } from './write.ts'

/** An idempotency key that this request holds. */
export type IdempotencyKeyClaim = {
  keyHash: Buffer
  lease: string
  /** The id of what the request creates, the same in each attempt. */
  operationId: string
  /** An earlier attempt committed with `resultId`. The claim then holds no lease, and nothing is done again. */
  isApplied: boolean
  resultId: string | null
}
export type IdempotencyClaimOutcome =
  | { kind: 'claimed'; claim: IdempotencyKeyClaim }
  | { kind: 'done'; status: number; answer: Buffer }
  /** The key was used with a different request. */
  | { kind: 'reused' }
  /** Another attempt was still running after the time that a retry waits. */
  | { kind: 'running' }

type Key = { keyHash: Buffer; fingerprint: Buffer }
type Wanted = Key & { lease: string; operationId: string }
type Finished = { keyHash: Buffer; lease: string; status: number; answer: Buffer }

const LEASE_SECONDS = 2
const RENEW_MS = 1_000
/** How long a retry waits while an earlier attempt of its request is running. */
const WAIT_MS = 2_000
const POLL_MS = 50
/** Pauses after each try to change the row of a key, which is skipped while it is locked. */
const LOCKED_PAUSES_MS = [5, 20, 80, 320, 0]
const WAITERS_OF_KEY_MAX = 8
const WAITERS_MAX = 200

/**
 * Claims idempotency keys, so that one attempt of a request runs at a time. A claim is committed before the work, with a
 * lease of 2 s. This process renews it while it works, and releases it when the work stops. `whileWaiting` is called while a
 * retry waits for a running attempt, and returns a function that is called afterwards.
 */
export function createIdempotencyKeyClaims(db: Pick<Database, 'rows' | 'first' | 'run' | 'batchCalls'>) {
  /** Returns for each request whether it claimed an unused key. */
  const insertTogether = db.batchCalls(async (wanted: readonly Wanted[]) => {
    const inserted = await db.rows(keys.insertIdempotencyKeys, {
      keyHashes: wanted.map(({ keyHash }) => keyHash),
      fingerprints: wanted.map(({ fingerprint }) => fingerprint),
      leases: wanted.map(({ lease }) => lease),
      operationIds: wanted.map(({ operationId }) => operationId),
      leaseSeconds: LEASE_SECONDS
    })
    const leases = new Set(inserted.map(({ lease }) => lease))
    return wanted.map(({ lease }) => leases.has(lease))
  })
  /** Returns for each response whether it was stored. */
  const finishTogether = db.batchCalls(async (finished: readonly Finished[]) => {
    const stored = await db.rows(keys.storeIdempotentResponses, {
      keyHashes: finished.map(({ keyHash }) => keyHash),
      leases: finished.map(({ lease }) => lease),
      statuses: finished.map(({ status }) => status),
      answers: finished.map(({ answer }) => answer)
    })
    const leases = new Set(stored.map(({ lease }) => lease))
    return finished.map(({ lease }) => leases.has(lease))
  })
  const held = new Map<string, { keyHash: Buffer; lease: string; since: number }>()
  const pauses = new Map<string, () => void>()
  const waiters = new Map<string, number>()
  let waitersTotal = 0
  const lookOnce = createSingleFlight<keys.IdempotencyKeyRow | undefined>()

  const renewing = setInterval(() => {
    const before = performance.now() - RENEW_MS / 2
    const long = [...held.values()].filter(({ since }) => since < before)
    if (long.length === 0) return
    const [keyHashes, leases] = [long.map(each => each.keyHash), long.map(each => each.lease)]
    // A lease that is not renewed expires. Another attempt may then take over, and this one fails when it marks the key.
    db.run(keys.renewIdempotencyKeyLeases, { keyHashes, leases, leaseSeconds: LEASE_SECONDS }).catch(() => {})
  }, RENEW_MS).unref()

  function hold({ keyHash }: Key, lease: string, operationId: string): IdempotencyClaimOutcome {
    held.set(lease, { keyHash, lease, since: performance.now() })
    return { kind: 'claimed', claim: { keyHash, lease, operationId, isApplied: false, resultId: null } }
  }

  /** Tries to claim the idempotency key once. */
  async function tryOnce(key: Key): Promise<IdempotencyClaimOutcome> {
    const wanted = { ...key, lease: randomUUID(), leaseSeconds: LEASE_SECONDS, operationId: newId() }
    if (await insertTogether(wanted)) return hold(key, wanted.lease, wanted.operationId)
    const row = await db.first(keys.findIdempotencyKey, { keyHash: key.keyHash })
    if (row === undefined) return { kind: 'running' }
    if (!row.is_expired) {
      if (!row.fingerprint.equals(key.fingerprint)) return { kind: 'reused' }
      if (row.state === 'done') return { kind: 'done', status: row.status ?? 0, answer: row.answer as Buffer }
      if (row.state === 'applied') return { kind: 'claimed', claim: appliedClaim(key, row) }
      if (row.is_held) return { kind: 'running' }
    }
    const taken = await db.first(keys.takeOverIdempotencyKey, wanted)
    return taken === undefined ? { kind: 'running' } : hold(key, wanted.lease, taken.operation_id)
  }

  /** Claims the idempotency key. Waits a moment while another attempt is running. */
  async function claim(key: Key, whileWaiting: () => () => void): Promise<IdempotencyClaimOutcome> {
    const first = await tryOnce(key)
    if (first.kind !== 'running') return first
    const name = key.keyHash.toString('base64')
    const count = waiters.get(name) ?? 0
    if (count >= WAITERS_OF_KEY_MAX || waitersTotal >= WAITERS_MAX) return first
    waiters.set(name, count + 1)
    waitersTotal += 1
    const goOn = whileWaiting()
    try {
      const until = performance.now() + WAIT_MS
      while (performance.now() < until) {
        // One query per key and process, however many retries wait.
        const row = await lookOnce(name, async () => {
          await pause(name)
          return db.first(keys.findIdempotencyKey, { keyHash: key.keyHash })
        })
        if (row?.is_held === true && !row.is_expired) continue
        const outcome = await tryOnce(key)
        if (outcome.kind !== 'running') return outcome
      }
      return first
    } finally {
      goOn()
      waitersTotal -= 1
      const left = (waiters.get(name) ?? 1) - 1
      if (left === 0) waiters.delete(name)
      else waiters.set(name, left)
    }
  }

  /** One pause for all retries of this key in this process. It ends early when the holder is in this process and stops. */
  function pause(name: string): Promise<void> {
    return new Promise(resolve => {
      const end = () => {
        clearTimeout(timer)
        pauses.delete(name)
        resolve()
      }
      const timer = setTimeout(end, POLL_MS)
      pauses.set(name, end)
    })
  }

  const letGo = ({ lease, keyHash }: IdempotencyKeyClaim) => {
    held.delete(lease)
    pauses.get(keyHash.toString('base64'))?.()
  }

  /**
   * Ends a claim by a change of its row in one of these states. Repeats the change when it skipped the row, because a retry that
   * tries to take the key over locks it for a moment. A key that was taken over, or whose response is stored, has no such row.
   */
  async function end(
    claim: IdempotencyKeyClaim,
    states: readonly keys.IdempotencyKeyRow['state'][],
    change: () => Promise<boolean>
  ): Promise<void> {
    const { keyHash, lease } = claim
    try {
      for (const pauseMs of LOCKED_PAUSES_MS) {
        if (await change()) return
        const row = await db.first(keys.findIdempotencyKey, { keyHash })
        if (row?.lease !== lease || !states.includes(row.state)) return
        await delay(pauseMs)
      }
    } finally {
      letGo(claim)
    }
  }

  return {
    claim,
    /** Stores the response for retries of the request. */
    finish(claim: IdempotencyKeyClaim, status: number, answer: Buffer): Promise<void> {
      const { keyHash, lease } = claim
      return end(claim, ['running', 'applied'], () => finishTogether({ keyHash, lease, status, answer }))
    },
    /** Releases the idempotency key: a retry runs the request again, or finds its result when it was committed. */
    release(claim: IdempotencyKeyClaim): Promise<void> {
      const { keyHash, lease } = claim
      const release = async () => (await db.run(keys.releaseIdempotencyKey, { keyHash, lease })) > 0
      return end(claim, ['running'], release)
    },
    /** Ends the claim of a request that was committed, without a statement: such a key is not held by its lease any more. */
    forget: letGo,
    close: () => clearInterval(renewing)
  }
}
export type IdempotencyKeyClaims = ReturnType<typeof createIdempotencyKeyClaims>

/**
 * Records in the transaction of the work that it is done, and the id that it created or found. @throws
 * `IDEMPOTENCY_KEY_IN_PROGRESS` when a later attempt took the key over; then the transaction must roll back.
 */
export async function markIdempotencyKeyApplied(
  tx: Transaction,
  claim: IdempotencyKeyClaim,
  resultId: string | null
): Promise<void> {
  const { keyHash, lease } = claim
  if ((await tx.run(keys.updateIdempotencyKeyApplied, { keyHash, lease, resultId })) === 0)
    throw idempotencyKeyInProgressError({ retryAfterSeconds: 1 })
}

/**
 * The claim of a retry after its request was committed. It has the lease of that attempt, so the response can still be
 * stored.
 */
const appliedClaim = ({ keyHash }: Key, row: keys.IdempotencyKeyRow): IdempotencyKeyClaim => ({
  keyHash,
  lease: row.lease,
  operationId: row.operation_id,
  isApplied: true,
  resultId: row.result_id
})
