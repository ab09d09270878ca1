import { base32 } from '../../../kernel/base32.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { hashSecret } from '../passwords/random-secrets.ts'

const CODES = 10
const CODE_BYTES = 10
const PURPOSE = 'auth.recovery_codes'

/** As they are compared: without what makes them readable. */
export const plainCode = (text: string): string => text.replace(/[\s-]/g, '').toUpperCase()

export const hashCode = (text: string): Buffer => hashSecret(plainCode(text))

/**
 * Ten codes of 80 bits for each of our secrets, the present one first. They are computed from the id of the request, so that its repetition
 * gets the same ones. They are stored only as hashes.
 */
export function recoveryCodes(secrets: Secrets, id: string): readonly [string[], ...string[][]] {
  const macs = Array.from({ length: CODES }, (_, index) => secrets.everyMac(PURPOSE, id, String(index)))
  const codeIn = (mac: string): string => {
    const bytes = Buffer.from(mac.slice(mac.indexOf('.') + 1), 'base64url').subarray(0, CODE_BYTES)
    return base32(bytes)
      .toLowerCase()
      .replace(/.{4}(?=.)/g, '$&-')
  }
  const sets = (macs[0] ?? []).map((_, secret) => macs.map(each => codeIn(each[secret] as string)))
  return sets as [string[], ...string[][]]
}
