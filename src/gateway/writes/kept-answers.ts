import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { deflateSync, inflateSync } from 'node:zlib'

/** What is kept of an answer, for whoever repeats its request. */
export type KeptAnswer = { headers: Record<string, string | number | string[] | undefined>; body: string }

const IV_BYTES = 12
const TAG_BYTES = 16
/** What is shorter gains nothing by it. */
const DEFLATED_BYTES_MIN = 512
const [PLAIN, DEFLATED] = [0, 1]

/** The answer as it is stored: deflated where that pays (a cart by three quarters), and encrypted (AES-256-GCM). */
export function sealAnswer(answer: KeptAnswer, key: Buffer): Buffer {
  const text = Buffer.from(JSON.stringify(answer))
  const isLong = text.length >= DEFLATED_BYTES_MIN
  const form = Buffer.of(isLong ? DEFLATED : PLAIN)
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  const sealed = [cipher.update(isLong ? deflateSync(text, { level: 1 }) : text), cipher.final()]
  return Buffer.concat([form, iv, cipher.getAuthTag(), ...sealed])
}

/** @throws when it was sealed with another key, or damaged. */
export function openAnswer(sealed: Buffer, key: Buffer): KeptAnswer {
  const [ivAt, tagAt, bodyAt] = [1, 1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES]
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(ivAt, tagAt))
  decipher.setAuthTag(sealed.subarray(tagAt, bodyAt))
  const text = Buffer.concat([decipher.update(sealed.subarray(bodyAt)), decipher.final()])
  return JSON.parse((sealed[0] === DEFLATED ? inflateSync(text) : text).toString('utf8'))
}
