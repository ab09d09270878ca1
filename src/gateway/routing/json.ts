import { malformedJson } from '../errors.ts'

const DEPTH_MAX = 32
const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * JSON as the shop accepts it (RFC 8259, and stricter where the RFC leaves parsers to differ): UTF-8 that is valid,
 * no duplicate keys, no `__proto__`, no NUL and no lone surrogates (PostgreSQL stores neither), no numbers beyond
 * those of JavaScript, 32 levels at most.
 * An empty body is `undefined`. @throws `MALFORMED_JSON`, with the reason in `reason`.
 */
export function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined
  const text = orRefuse(() => decoder.decode(body), 'it is not valid UTF-8')
  const value = orRefuse<unknown>(() => JSON.parse(text), 'it is not valid JSON')
  const properties = checkValue(value, 1)
  // Parsing keeps the last of several equal keys, so a text with duplicates has more colons than the value has keys.
  if (properties !== countColons(text)) throw refusal('an object has the same key twice')
  return value
}

const refusal = (reason: string, cause?: unknown) => malformedJson({ details: { reason }, cause })

function orRefuse<T>(read: () => T, reason: string): T {
  try {
    return read()
  } catch (cause) {
    throw refusal(reason, cause)
  }
}

/** Checks strings, numbers, keys and depth, and counts the properties of all objects. */
function checkValue(value: unknown, depth: number): number {
  if (typeof value === 'string') {
    checkText(value)
    return 0
  }
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
    throw refusal('a number is too large')
  if (typeof value !== 'object' || value === null) return 0
  if (depth > DEPTH_MAX) throw refusal(`it is nested deeper than ${DEPTH_MAX} levels`)
  let properties = 0
  if (Array.isArray(value)) {
    for (const item of value) properties += checkValue(item, depth + 1)
    return properties
  }
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') throw refusal('the key __proto__ is not allowed')
    checkText(key)
    properties += 1 + checkValue(item, depth + 1)
  }
  return properties
}

function checkText(text: string): void {
  if (text.includes('\0')) throw refusal('a string contains NUL')
  if (!text.isWellFormed()) throw refusal('a string contains a lone surrogate')
}

/** Colons outside of strings, in a text that is known to be valid JSON. */
function countColons(text: string): number {
  let colons = 0
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index)
    if (character === COLON) colons += 1
    else if (character === QUOTE) index = endOfString(text, index)
  }
  return colons
}

const COLON = 58
const QUOTE = 34
const BACKSLASH = 92

function endOfString(text: string, start: number): number {
  let index = start + 1
  while (text.charCodeAt(index) !== QUOTE) index += text.charCodeAt(index) === BACKSLASH ? 2 : 1
  return index
}
