import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  type webcrypto
} from 'node:crypto'
import { newId } from '../../../kernel/ids.ts'
import type { Log } from '../../../platform/log.ts'
import type { Database, Queryable } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import * as repository from './repository.ts'

/** Interval of `refresh`. It is shorter than the time for which a new key is published before it signs. */
export const SIGNING_KEY_REFRESH_SECONDS = 120
const ROTATION_DAYS = 90
const NOTICE_SECONDS = 600
const OVERLAP_SECONDS = 2 * 86_400 // tokens live a day at most
const RELOAD_PAUSE_MS = 5_000
const PURPOSE = 'auth.signing_keys'

type Key = { kid: string; signs: boolean; privateKey: KeyObject; publicKey: KeyObject }
export type SigningKeyStoreDeps = { db: Database; secrets: Secrets; log: Log }

/**
 * Manages the keys that sign access tokens. PostgreSQL stores them encrypted for all processes; the newest key whose start
 * time has passed signs. A key that the configured secrets cannot decrypt is ignored: it signs nothing, and its signatures
 * are not accepted.
 */
export async function createSigningKeyStore({ db, secrets, log }: SigningKeyStoreDeps) {
  let keys: readonly Key[] = []
  let foreign: readonly string[] = []
  let reloadedAt = Number.NEGATIVE_INFINITY

  async function reload(): Promise<void> {
    reloadedAt = performance.now()
    const rows = await db.rows(repository.listSigningKeys)
    const opened = rows.map(row => ({ row, privateKey: open(row) }))
    keys = opened.flatMap(({ row: { kid, signs }, privateKey }) =>
      privateKey === undefined ? [] : [{ kid, signs, privateKey, publicKey: createPublicKey(privateKey) }]
    )
    foreign = opened
      .filter(({ privateKey }) => privateKey === undefined)
      .map(({ row }) => secrets.keyIdOf(row.sealed as Buffer))
    for (const { row, privateKey } of opened) {
      if (privateKey !== undefined && !isCurrent(row) && !db.isReadOnly)
        await db.run(repository.updateEncryptedSigningKey, { kid: row.kid, sealed: seal(privateKey) })
    }
  }

  const seal = (key: KeyObject) => secrets.seal(PURPOSE, key.export({ format: 'der', type: 'pkcs8' }))
  const isCurrent = ({ sealed }: repository.SigningKeyRow) =>
    sealed !== null && secrets.keyIdOf(sealed) === secrets.keyId

  function open({ private_jwk: jwk, sealed }: repository.SigningKeyRow): KeyObject | undefined {
    if (sealed === null) return createPrivateKey({ key: jwk as webcrypto.JsonWebKey, format: 'jwk' })
    const key = secrets.open(PURPOSE, sealed)
    return key && createPrivateKey({ key, format: 'der', type: 'pkcs8' })
  }

  async function add(on: Queryable, urgent: boolean): Promise<void> {
    const { privateKey } = generateKeyPairSync('ed25519')
    await on.run(repository.insertSigningKeyIfDue, {
      kid: newId(),
      sealed: seal(privateKey),
      rotationDays: ROTATION_DAYS,
      noticeSeconds: NOTICE_SECONDS,
      urgent
    })
  }

  /** Rotates keys when due, deletes retired ones, and loads the keys of other processes. */
  async function refresh(): Promise<void> {
    if (!db.isReadOnly)
      await db.transaction(async tx => {
        await add(tx, false)
        await tx.run(repository.deleteRetiredSigningKeys, { overlapSeconds: OVERLAP_SECONDS })
      })
    await reload()
    if (foreign.length > 0)
      log.warn(
        { secrets: [...new Set(foreign)] },
        'keys that sign access tokens are encrypted with secrets that secrets.keys does not have (any more): what they signed is refused, and clients refresh. If these secrets are still in use elsewhere, add them here.'
      )
    // With a lost secret, access tokens become invalid, but the shop keeps running with a new key.
    for (let tries = 0; signingKey() === undefined && !db.isReadOnly && tries < 3; tries += 1) {
      await add(db, true)
      await reload()
    }
  }

  const find = (kid: string) => keys.find(key => key.kid === kid)?.publicKey
  const signingKey = () => keys.find(each => each.signs)

  // Most starts find a key with one statement. The timer does the rest.
  await reload()
  if (signingKey() === undefined || foreign.length > 0) await refresh()
  return {
    refresh,

    signing(): Key {
      const key = signingKey()
      if (key === undefined) throw new Error('auth.signing_keys has no current key')
      return key
    },

    /** Returns the public key of this id. Reloads for an unknown one, which may be new, every 5 s at most. */
    async publicKey(kid: string): Promise<KeyObject | undefined> {
      if (find(kid) === undefined && performance.now() - reloadedAt > RELOAD_PAUSE_MS) await reload()
      return find(kid)
    },

    /** Returns the public keys, newest first (RFC 7517). */
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
export type SigningKeyStore = Awaited<ReturnType<typeof createSigningKeyStore>>
