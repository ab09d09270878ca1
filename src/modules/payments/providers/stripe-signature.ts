import { createHmac, timingSafeEqual } from 'node:crypto'
import type { PaymentCallbackSignatureStatus } from './port.ts'

/**
 * Maximum distance of a signature's time from now, in seconds. An older one may belong to a replayed request.
 */
const TOLERANCE_SECONDS = 300

const macOf = (secret: string, seconds: string, raw: Buffer) =>
  createHmac('sha256', secret).update(`${seconds}.`).update(raw).digest()

/**
 * Verifies a signature as Stripe makes it: `t=<seconds>,v1=<HMAC-SHA-256 of "seconds.body">`. Any of the secrets may have
 * signed, at most five minutes from now. An empty secret is never accepted.
 */
export function verifyStripeSignature(
  secrets: readonly string[],
  header: unknown,
  raw: Buffer,
  now: Date
): PaymentCallbackSignatureStatus {
  if (typeof header !== 'string' || header.length > 1_000) return 'unsigned'
  const parts = header.split(',').map(part => part.split('=', 2) as [string, string | undefined])
  const seconds = parts.find(([name]) => name === 't')?.[1] ?? ''
  const given = parts.filter(([name]) => name === 'v1').map(([, hex = '']) => Buffer.from(hex, 'hex'))
  if (!/^\d{1,12}$/.test(seconds) || given.length === 0) return 'unsigned'
  // Every secret is compared, so that the duration does not reveal which one matches.
  const matches = secrets
    .filter(secret => secret !== '')
    .flatMap(secret => given.map(mac => areEqual(mac, macOf(secret, seconds, raw))))
  if (!matches.includes(true)) return 'wrong'
  const age = now.getTime() / 1_000 - Number(seconds)
  if (age > TOLERANCE_SECONDS) return 'old'
  return age < -TOLERANCE_SECONDS ? 'future' : 'right'
}

const areEqual = (one: Buffer, other: Buffer) => one.length === other.length && timingSafeEqual(one, other)
