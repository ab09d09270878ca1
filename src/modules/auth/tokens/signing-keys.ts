import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  type webcrypto
} from 'node:crypto'
import { newId } from '../../../kernel/ids.ts'
import type { Log } from '../../../platform/log.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import * as repository from './repository.ts'

/** How often `refresh` is to be called: well within the notice that a new key gives before it signs. */
export const REFRESH_SECONDS = 120
const ROTATION_DAYS = 90
const NOTICE_SECONDS = 600
const OVERLAP_SECONDS = 2 * 86_400 // tokens live a day at most
const RELOAD_PAUSE_MS = 5_000
const PURPOSE = 'auth.signing_keys'

type Key = { kid: string; signs: boolean; privateKey: KeyObject; publicKey: KeyObject }
export type SigningKeyDeps = { db: Database; secrets: Secrets; log: Log }

/**
 * The keys that sign access tokens, the same in every process: PostgreSQL keeps them, encrypted, and says which one
 * signs: the newest whose time has come. One that our secrets do not open is as if it were not there, in either
 * direction: it signs nothing, and nothing that it signed is believed.
 */
export async function createSigningKeys({ db, secrets, log }: SigningKeyDeps) {
  let keys: readonly Key[] = []
  let foreign: readonly string[] = []
  let reloadedAt = Number.NEGATIVE_INFINITY

  async function reload(): Promise<void> {
    reloadedAt = performance.now()
    const rows = await db.rows(repository.listKeys)
    const opened = rows.map(row => ({ row, privateKey: open(row) }))
    keys = opened.flatMap(({ row: { kid, signs }, privateKey }) =>
      privateKey === undefined ? [] : [{ kid, signs, privateKey, publicKey: createPublicKey(privateKey) }]
    )
    foreign = opened
      .filter(({ privateKey }) => privateKey === undefined)
      .map(({ row }) => secrets.keyIdOf(row.sealed as Buffer))
    for (const { row, privateKey } of opened) {
      if (privateKey !== undefined && !isCurrent(row))
        await db.run(repository.sealKey, { kid: row.kid, sealed: seal(privateKey) })
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

  async function add(urgent: boolean): Promise<void> {
    const { privateKey } = generateKeyPairSync('ed25519')
    await db.run(repository.insertKeyIfDue, {
      kid: newId(),
      sealed: seal(privateKey),
      rotationDays: ROTATION_DAYS,
      noticeSeconds: NOTICE_SECONDS,
      urgent
    })
  }

  /** Rotates when it is time, drops what is retired, and learns what other processes did. */
  async function refresh(): Promise<void> {
    await add(false)
    await db.run(repository.deleteRetiredKeys, { overlapSeconds: OVERLAP_SECONDS })
    await reload()
    if (foreign.length > 0)
      log.warn(
        { secrets: [...new Set(foreign)] },
        'keys that sign access tokens are encrypted with secrets that secrets.keys does not have (any more): what they signed is refused, and clients refresh. If these secrets are still in use elsewhere, add them here.'
      )
    // A secret that is lost costs the access tokens of the last minutes, and not the shop.
    for (let tries = 0; signingKey() === undefined && tries < 3; tries += 1) {
      await add(true)
      await reload()
    }
  }

  const find = (kid: string) => keys.find(key => key.kid === kid)?.publicKey
  const signingKey = () => keys.find(each => each.signs)

  // Most starts find a key, and one statement is enough for them; what else is due, the first chore does.
  await reload()
  if (signingKey() === undefined || foreign.length > 0) await refresh()
  return {
    refresh,

    signing(): Key {
      const key = signingKey()
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
