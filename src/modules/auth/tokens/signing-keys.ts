import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  type webcrypto
} from 'node:crypto'
import { newId } from '../../../kernel/ids.ts'
import type { Database } from '../../../platform/postgres.ts'
import * as repository from './repository.ts'

/** How often `refresh` is to be called: well within the notice that a new key gives before it signs. */
export const REFRESH_SECONDS = 120
const SCHEDULE: repository.KeySchedule = {
  rotationDays: 90,
  noticeSeconds: 600,
  overlapSeconds: 2 * 86_400 // tokens live a day at most
}
const RELOAD_PAUSE_MS = 5_000

type Key = { kid: string; signs: boolean; privateKey: KeyObject; publicKey: KeyObject }

/** The keys that sign access tokens, the same in every process: PostgreSQL keeps them and decides which one signs. */
export async function createSigningKeys({ db }: { db: Database }) {
  let keys: readonly Key[] = []
  let reloadedAt = Number.NEGATIVE_INFINITY

  async function reload(): Promise<void> {
    reloadedAt = performance.now()
    keys = (await repository.list(db)).map(row => {
      const privateKey = createPrivateKey({ key: row.private_jwk as webcrypto.JsonWebKey, format: 'jwk' })
      return { kid: row.kid, signs: row.signs, privateKey, publicKey: createPublicKey(privateKey) }
    })
  }

  /** Rotates when it is time, drops what is retired, and learns what other processes did. */
  async function refresh(): Promise<void> {
    const { privateKey } = generateKeyPairSync('ed25519')
    const candidate = { kid: newId(), privateJwk: privateKey.export({ format: 'jwk' }) }
    await repository.insertIfDue(db, candidate, SCHEDULE)
    await repository.deleteRetired(db, SCHEDULE)
    await reload()
  }

  const find = (kid: string) => keys.find(key => key.kid === kid)?.publicKey

  await refresh()
  return {
    refresh,

    signing(): Key {
      const key = keys.find(each => each.signs)
      if (key === undefined) throw new Error('no key of auth.signing_keys signs at this time')
      return key
    },

    /** The public key of this id. An unknown one may be new: it is looked up again, not more often than every 5 s. */
    async publicKey(kid: string): Promise<KeyObject | undefined> {
      if (find(kid) === undefined && performance.now() - reloadedAt > RELOAD_PAUSE_MS) await reload()
      return find(kid)
    },

    /** The public halves, newest first (RFC 7517). */
    published: () => ({
      keys: keys.map(({ kid, publicKey }) => ({
        ...(publicKey.export({ format: 'jwk' }) as { kty: string; crv: string; x: string }),
        kid,
        alg: 'EdDSA',
        use: 'sig'
      }))
    })
  }
}
export type SigningKeys = Awaited<ReturnType<typeof createSigningKeys>>
