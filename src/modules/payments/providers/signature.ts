import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Signature } from './port.ts'

/** A signature older or newer than this may be somebody else's copy of an old one. */
const TOLERANCE_SECONDS = 300

const macOf = (secret: string, seconds: string, raw: Buffer) =>
  createHmac('sha256', secret).update(`${seconds}.`).update(raw).digest()

/** `t=<seconds>,v1=<HMAC-SHA-256 of "seconds.body">`, as Stripe signs its webhooks. */
export const signatureOf = (secret: string, raw: Buffer, now: Date): string => {
  const seconds = String(Math.floor(now.getTime() / 1_000))
  return `t=${seconds},v1=${macOf(secret, seconds, raw).toString('hex')}`
}

/** Whether one of the secrets signed these bytes within five minutes of now. An empty secret signs nothing. */
export function judgeSignature(
  secrets: readonly string[],
  header: unknown,
  raw: Buffer,
  now: Date
): Signature {
  if (typeof header !== 'string' || header.length > 1_000) return 'unsigned'
  const parts = header.split(',').map(part => part.split('=', 2) as [string, string | undefined])
  const seconds = parts.find(([name]) => name === 't')?.[1] ?? ''
  const given = parts.filter(([name]) => name === 'v1').map(([, hex = '']) => Buffer.from(hex, 'hex'))
  if (!/^\d{1,12}$/.test(seconds) || given.length === 0) return 'unsigned'
  // All are compared, so that the time tells nothing.
  const matches = secrets
    .filter(secret => secret !== '')
    .flatMap(secret => given.map(mac => areEqual(mac, macOf(secret, seconds, raw))))
  if (!matches.includes(true)) return 'wrong'
  const age = now.getTime() / 1_000 - Number(seconds)
  if (age > TOLERANCE_SECONDS) return 'old'
  return age < -TOLERANCE_SECONDS ? 'future' : 'right'
}

const areEqual = (one: Buffer, other: Buffer) => one.length === other.length && timingSafeEqual(one, other)
