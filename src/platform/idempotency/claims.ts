import { randomUUID } from 'node:crypto'
import { newId } from '../../kernel/ids.ts'
import { singleFlight } from '../../kernel/single-flight.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import * as keys from './keys.ts'
import { idempotencyKeyInProgress } from './write.ts'

/** An idempotency key that this request holds. */
export type Claim = {
  keyHash: Buffer
  lease: string
  /** The id of what the request makes: the same in each of its tries. */
  operationId: string
  /** An earlier try was committed; `resultId` is what it noted. Then nothing is held, and nothing is done again. */
  isApplied: boolean
  resultId: string | null
}
export type Outcome =
  | { kind: 'claimed'; claim: Claim }
  | { kind: 'done'; status: number; answer: Buffer }
  /** It came before with another request. */
  | { kind: 'reused' }
  /** Another try is running, and was still running after the time that a retry waits for it. */
  | { kind: 'running' }

type Key = { keyHash: Buffer; fingerprint: Buffer }
type Wanted = Key & { lease: string; operationId: string }
type Finished = { keyHash: Buffer; lease: string; status: number; answer: Buffer }

const LEASE_SECONDS = 2
const RENEW_MS = 1_000
/** A retry waits so long for the try that is still running. */
const WAIT_MS = 2_000
const POLL_MS = 50
const WAITERS_OF_KEY_MAX = 8
const WAITERS_MAX = 200

/**
 * Who may work on a request with an idempotency key. A claim is committed before the work, held by a lease of 2 s
 * that this process renews while it works, and given back the moment it stops working. `whileWaiting` is called with
 * the wait of a retry for the try that is still running.
 */
export function createKeyClaims(db: Pick<Database, 'rows' | 'first' | 'run' | 'inBatches'>) {
  /** Whether each got the key that nobody had used. */
  const insertTogether = db.inBatches(async (wanted: readonly Wanted[]) => {
    const inserted = await db.rows(keys.insertKeys, {
      keyHashes: wanted.map(({ keyHash }) => keyHash),
      fingerprints: wanted.map(({ fingerprint }) => fingerprint),
      leases: wanted.map(({ lease }) => lease),
      operationIds: wanted.map(({ operationId }) => operationId),
      leaseSeconds: LEASE_SECONDS
    })
    const leases = new Set(inserted.map(({ lease }) => lease))
    return wanted.map(({ lease }) => leases.has(lease))
  })
  const finishTogether = db.inBatches(async (finished: readonly Finished[]) => {
    await db.run(keys.finishKeys, {
      keyHashes: finished.map(({ keyHash }) => keyHash),
      leases: finished.map(({ lease }) => lease),
      statuses: finished.map(({ status }) => status),
      answers: finished.map(({ answer }) => answer)
    })
    return finished
  })
  const held = new Map<string, { keyHash: Buffer; lease: string; since: number }>()
  const pauses = new Map<string, () => void>()
  const waiters = new Map<string, number>()
  let waitersTotal = 0
  const lookOnce = singleFlight<keys.KeyRow | undefined>()

  const renewing = setInterval(() => {
    const before = performance.now() - RENEW_MS / 2
    const long = [...held.values()].filter(({ since }) => since < before)
    if (long.length === 0) return
    const [keyHashes, leases] = [long.map(each => each.keyHash), long.map(each => each.lease)]
    // A lease that cannot be renewed runs out: then another try may take over, and this one fails at its mark.
    db.run(keys.renewLeases, { keyHashes, leases, leaseSeconds: LEASE_SECONDS }).catch(() => {})
  }, RENEW_MS).unref()

  function hold({ keyHash }: Key, lease: string, operationId: string): Outcome {
    held.set(lease, { keyHash, lease, since: performance.now() })
    return { kind: 'claimed', claim: { keyHash, lease, operationId, isApplied: false, resultId: null } }
  }

  /** Claims the key, or says why not now. */
  async function tryOnce(key: Key): Promise<Outcome> {
    const wanted = { ...key, lease: randomUUID(), leaseSeconds: LEASE_SECONDS, operationId: newId() }
    if (await insertTogether(wanted)) return hold(key, wanted.lease, wanted.operationId)
    const row = await db.first(keys.findKey, { keyHash: key.keyHash })
    if (row === undefined) return { kind: 'running' }
    if (!row.is_expired) {
      if (!row.fingerprint.equals(key.fingerprint)) return { kind: 'reused' }
      if (row.state === 'done') return { kind: 'done', status: row.status ?? 0, answer: row.answer as Buffer }
      if (row.state === 'applied') return { kind: 'claimed', claim: appliedClaim(key, row) }
      if (row.is_held) return { kind: 'running' }
    }
    const taken = await db.first(keys.takeKeyOver, wanted)
    return taken === undefined ? { kind: 'running' } : hold(key, wanted.lease, taken.operation_id)
  }

  /** Claims the key. While another try is running, waits for it for a moment. */
  async function claim(key: Key, whileWaiting: () => () => void): Promise<Outcome> {
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
        // One look a key and process, however many wait.
        const row = await lookOnce(name, async () => {
          await pause(name)
          return db.first(keys.findKey, { keyHash: key.keyHash })
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

  /** One pause for all who wait for this key here; it ends early when its holder is in this process and stops working. */
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

  const letGo = ({ lease, keyHash }: Claim) => {
    held.delete(lease)
    pauses.get(keyHash.toString('base64'))?.()
  }

  return {
    claim,
    /** Keeps the answer for whoever repeats the request. */
    async finish(claim: Claim, status: number, answer: Buffer): Promise<void> {
      const { keyHash, lease } = claim
      await finishTogether({ keyHash, lease, status, answer }).finally(() => letGo(claim))
    },
    /** Gives the key back: whoever repeats the request does it again, or learns what it made when it was committed. */
    async release(claim: Claim): Promise<void> {
      const { keyHash, lease } = claim
      await db.run(keys.releaseKey, { keyHash, lease }).finally(() => letGo(claim))
    },
    close: () => clearInterval(renewing)
  }
}
export type KeyClaims = ReturnType<typeof createKeyClaims>

/**
 * Notes in the transaction of the work that it was done, and what it made or found. @throws
 * `IDEMPOTENCY_KEY_IN_PROGRESS` when a later try has taken the key over: then the transaction must end.
 */
export async function markApplied(tx: Transaction, claim: Claim, resultId: string | null): Promise<void> {
  const { keyHash, lease } = claim
  if ((await tx.run(keys.markKeyApplied, { keyHash, lease, resultId })) === 0)
    throw idempotencyKeyInProgress({ retryAfterSeconds: 1 })
}

/** With the lease of the try that was committed, whose answer may still be kept. */
const appliedClaim = ({ keyHash }: Key, row: keys.KeyRow): Claim => ({
  keyHash,
  lease: row.lease,
  operationId: row.operation_id,
  isApplied: true,
  resultId: row.result_id
})
