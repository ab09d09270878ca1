const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const BITS = 5

/** Base32 without padding (RFC 4648, section 6). */
export function encodeBase32(bytes: Buffer): string {
  const bits = [...bytes].map(byte => byte.toString(2).padStart(8, '0')).join('')
  const groups = bits.match(/.{1,5}/g) ?? []
  return groups.map(group => ALPHABET.charAt(Number.parseInt(group.padEnd(BITS, '0'), 2))).join('')
}
