const LENGTH_MAX = 254 // RFC 5321, section 4.5.3.1.3, less the angle brackets
const ADDRESS = /^[^\s@<>,;:"()[\]\\\p{C}]{1,64}@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*$/u

/** How addresses are compared and stored: no space around them, lower case. */
export const foldEmail = (text: string): string => text.trim().toLowerCase()

/**
 * The address as it is stored, or `undefined` when it is none: whether it exists only a message to it can tell, so
 * only what could never be one, or would break a mail header, is refused.
 */
export function parseEmail(text: string): string | undefined {
  const email = foldEmail(text)
  return email.length <= LENGTH_MAX && ADDRESS.test(email) ? email : undefined
}

export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1)
