import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual
} from 'node:crypto'
import { OperatorError } from '../../kernel/errors.ts'
import type { SettingProblem } from '../../kernel/settings.ts'

/** A key of `secrets.keys`: at least 32 random bytes, as base64 or hex. */
export type SecretKey = { readonly id: string; readonly key: string }

/**
 * Signs and encrypts with keys that are stored outside the database. The first key signs and encrypts, the others only verify
 * and decrypt. Each purpose has derived keys, so the output of one purpose is invalid for another.
 */
export type Secrets = {
  /** Encrypts (AES-256-GCM); `open` with the same purpose decrypts. */
  seal(purpose: string, plain: Buffer): Buffer
  /** Returns `undefined` when the key is unknown, the purpose differs, or the data was changed. */
  open(purpose: string, sealed: Buffer): Buffer | undefined
  /** Returns the id of the key that sealed the data, also of an unknown key. */
  keyIdOf(sealed: Buffer): string
  /** `<key id>.<HMAC-SHA-256>` of the parts under the first key, safe in URLs and headers. */
  mac(purpose: string, ...parts: readonly string[]): string
  /** Returns the MACs under all keys, the first key's first. */
  everyMac(purpose: string, ...parts: readonly string[]): readonly string[]
  /** Whether this is a MAC of these parts under any key. Takes constant time. */
  verify(mac: string, purpose: string, ...parts: readonly string[]): boolean
  /** The id of the key that seals. */
  readonly keyId: string
}

const KEY_BYTES_MIN = 32
const HOW_TO_MAKE = 'Make one with: openssl rand -base64 32'
const HOW_TO_SET =
  `Set the same on every machine: ` +
  `export CARTWRIGHT__SECRETS__KEYS="[{ id: k1, key: '$(openssl rand -base64 32)' }]"`
const FORMAT = 1
const IV_BYTES = 12
const TAG_BYTES = 16
const PURPOSES_MAX = 1_000

type Ring = { id: string; keyFor(use: string, purpose: string): Buffer }

/**
 * Returns what is wrong with the configured keys. In production with an external database, a missing key is a problem too.
 */
export function findSecretKeyProblems(
  keys: readonly SecretKey[],
  { isProduction, databaseUrl }: { isProduction: boolean; databaseUrl: string }
): SettingProblem[] {
  if (keys.length === 0 && isProduction && databaseUrl !== '')
    return [{ key: 'keys', message: `must hold a key in production with DATABASE_URL. ${HOW_TO_SET}` }]
  return keys.flatMap(({ id, key }, index) => {
    if (bytesOf(key).length < KEY_BYTES_MIN)
      return [
        { key: `keys.${index}.key`, message: `must have at least ${KEY_BYTES_MIN} bytes. ${HOW_TO_MAKE}` }
      ]
    if (keys.findIndex(other => other.id === id) < index)
      return [{ key: `keys.${index}.id`, message: 'must not be the id of another key' }]
    const isRepeated = keys.findIndex(other => bytesOf(other.key).equals(bytesOf(key))) < index
    return isRepeated
      ? [{ key: `keys.${index}.key`, message: `must not be another key again. ${HOW_TO_MAKE}` }]
      : []
  })
}

/** @throws OperatorError when a key is too short, or two have the same id. */
export function createSecretsFromKeys(keys: readonly SecretKey[]): Secrets {
  const rings = keys.map(ringOf)
  const [first] = rings
  if (first === undefined) throw new Error('there is no secret')
  const twice = keys.find(({ id }, index) => keys.findIndex(other => other.id === id) !== index)
  if (twice !== undefined)
    throw new OperatorError(`secrets.keys: ${twice.id} is there twice; each key needs an id of its own.`)

  const macWith = (ring: Ring, purpose: string, parts: readonly string[]) =>
    `${ring.id}.${createHmac('sha256', ring.keyFor('mac', purpose)).update(JSON.stringify(parts)).digest('base64url')}`

  return {
    keyId: first.id,

    seal(purpose, plain) {
      const id = Buffer.from(first.id)
      const head = Buffer.concat([Buffer.of(FORMAT, id.length), id, randomBytes(IV_BYTES)])
      const cipher = createCipheriv('aes-256-gcm', first.keyFor('seal', purpose), head.subarray(-IV_BYTES))
      cipher.setAAD(head)
      const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([head, cipher.getAuthTag(), sealed])
    },

    open(purpose, sealed) {
      const ring = rings.find(each => each.id === keyIdOf(sealed))
      const headBytes = 2 + (sealed[1] ?? 0) + IV_BYTES
      if (ring === undefined || sealed[0] !== FORMAT || sealed.length < headBytes + TAG_BYTES)
        return undefined
      const head = sealed.subarray(0, headBytes)
      const key = ring.keyFor('seal', purpose)
      const decipher = createDecipheriv('aes-256-gcm', key, head.subarray(-IV_BYTES), {
        authTagLength: TAG_BYTES
      })
      decipher.setAAD(head).setAuthTag(sealed.subarray(headBytes, headBytes + TAG_BYTES))
      try {
        return Buffer.concat([decipher.update(sealed.subarray(headBytes + TAG_BYTES)), decipher.final()])
      } catch {
        return undefined
      }
    },

    keyIdOf,
    mac: (purpose, ...parts) => macWith(first, purpose, parts),
    everyMac: (purpose, ...parts) => rings.map(ring => macWith(ring, purpose, parts)),

    verify(mac, purpose, ...parts) {
      const ring = rings.find(each => mac.startsWith(`${each.id}.`))
      const right = macWith(ring ?? first, purpose, parts)
      return ring !== undefined && mac.length === right.length && areEqual(mac, right)
    }
  }
}

const bytesOf = (text: string): Buffer =>
  Buffer.from(text, /^(?:[0-9a-f]{2})+$/i.test(text) ? 'hex' : 'base64')

/** Decodes a key of at least 32 bytes. The message never contains the key. @throws OperatorError. */
function ringOf({ id, key: text }: SecretKey): Ring {
  const key = bytesOf(text)
  if (key.length < KEY_BYTES_MIN)
    throw new OperatorError(
      `secrets.keys: the key ${id} is shorter than ${KEY_BYTES_MIN} bytes; make one with: openssl rand -base64 32`
    )
  const derived = new Map<string, Buffer>()
  return {
    id,
    keyFor(use, purpose) {
      const info = `${use}:${purpose}`
      const known = derived.get(info)
      if (known !== undefined) return known
      // Purposes are names in the code and never come from a request, so their number is bounded.
      if (derived.size >= PURPOSES_MAX) throw new Error(`too many purposes; the last one is ${purpose}`)
      const subkey = Buffer.from(hkdfSync('sha256', key, 'cartwright', info, 32))
      derived.set(info, subkey)
      return subkey
    }
  }
}

const keyIdOf = (sealed: Buffer): string => sealed.subarray(2, 2 + (sealed[1] ?? 0)).toString('utf8')

function areEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
