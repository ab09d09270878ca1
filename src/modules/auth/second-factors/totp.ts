import { createHmac, timingSafeEqual } from 'node:crypto'
import { encodeBase32 } from '../../../kernel/base32.ts'

export const TOTP_SECRET_BYTES = 20 // as long as SHA-1 (RFC 4226, section 4, R6)
const STEP_MS = 30_000
const DIGITS = 6
/** Accepted time steps relative to the current one, because clocks may differ by one step. */
const OFFSETS = [0, -1, 1]

/** Returns the code of a time step (RFC 6238 with SHA-1 and six digits, which every authenticator app supports). */
export function totpCodeOfTimeStep(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const offset = mac.readUInt8(mac.length - 1) & 0xf
  const number = mac.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

export const totpStepAt = (ms: number): number => Math.floor(ms / STEP_MS)

/** Returns the step of this code: the current one, the one before or the one after. */
export function findTotpStepOfCode(secret: Buffer, code: string, nowMs: number): number | undefined {
  const given = Buffer.from(code)
  return OFFSETS.map(offset => totpStepAt(nowMs) + offset).find(step => {
    const right = Buffer.from(totpCodeOfTimeStep(secret, step))
    return given.length === right.length && timingSafeEqual(given, right)
  })
}

/** Returns the URI in the QR code for an authenticator app. */
export function totpProvisioningUri(
  secret: Buffer,
  { issuer, account }: { issuer: string; account: string }
): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  const parameters = `secret=${encodeBase32(secret)}&issuer=${encodeURIComponent(issuer)}`
  return `otpauth://totp/${label}?${parameters}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_MS / 1_000}`
}
