import { encodeBase32 } from '../../../kernel/base32.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { hashSecret } from '../passwords/random-secrets.ts'

const CODES = 10
const CODE_BYTES = 10
const PURPOSE = 'auth.recovery_codes'

/** Removes separators and case, for comparison. */
export const normalizeSecondFactorCode = (text: string): string => text.replace(/[\s-]/g, '').toUpperCase()

export const hashRecoveryCode = (text: string): Buffer => hashSecret(normalizeSecondFactorCode(text))

/**
 * Returns a set of ten 80-bit codes for each configured secret, the current secret first. They are derived from the id of the
 * request, so that a retry gets the same codes. Only their hashes are stored.
 */
export function deriveRecoveryCodes(secrets: Secrets, id: string): readonly [string[], ...string[][]] {
  const macs = Array.from({ length: CODES }, (_, index) => secrets.everyMac(PURPOSE, id, String(index)))
  const codeIn = (mac: string): string => {
    const bytes = Buffer.from(mac.slice(mac.indexOf('.') + 1), 'base64url').subarray(0, CODE_BYTES)
    return encodeBase32(bytes)
      .toLowerCase()
      .replace(/.{4}(?=.)/g, '$&-')
  }
  const sets = (macs[0] ?? []).map((_, secret) => macs.map(each => codeIn(each[secret] as string)))
  return sets as [string[], ...string[][]]
}
