import { resolve } from './openapi.js'

const UUID = '0198c2f0-0000-7000-8000-000000000000'
const FORMATS = { uuid: UUID, date: '2026-12-31', 'date-time': '2026-12-31T12:00:00Z' }
/** The first that fits a field is its sample. */
const TEXTS = [
  ...['text', 'EUR', 'SE', 'en', '2026-12-31', '2026-12-31T12:00:00Z', 'https://example.com/', UUID],
  ...['https://example.com/track/{tracking_number}', 'TEXT', '1']
]
const NAMED = {
  email: 'ada@example.com',
  password: 'a long password of yours',
  phone: '+46701234567',
  currency: 'EUR',
  country: 'SE',
  locale: 'en',
  quantity: 1
}

/**
 * Makes a value that fits a schema: the required fields, or with `isFull` every field. An object without required fields gets
 * as many as it must have.
 */
export function sampleOf(schema, isFull = false, name = '') {
  const { anyOf, oneOf, ...target } = resolve(schema)
  const [variant] = (anyOf ?? oneOf ?? []).map(resolve).filter(({ type }) => type !== 'null')
  if (variant !== undefined) return sampleOf({ ...target, ...variant }, isFull, name)
  if (target.default !== undefined) return target.default
  if (target.const !== undefined) return target.const
  if (target.enum !== undefined) return target.enum.includes(NAMED[name]) ? NAMED[name] : target.enum[0]
  const type = [target.type].flat().find(each => each !== 'null')
  if (type === 'array') {
    const isEmpty = !isFull && (target.minItems ?? 0) === 0
    return isEmpty ? [] : [sampleOf(target.items ?? {}, isFull, name.replace(/s$/, ''))]
  }
  if (type === 'string') return textFor(target, name)
  if (type === 'integer' || type === 'number') return numberFor(target, name)
  if (type === 'boolean') return true
  return sampleObject(target, isFull)
}

function sampleObject(schema, isFull) {
  const { properties = {}, required = [], minProperties = 0, additionalProperties, not } = schema
  if (typeof additionalProperties === 'object' && (isFull || minProperties > 0)) {
    const member = sampleOf(additionalProperties, isFull)
    // Maps of integers are amounts by currency.
    return { [typeof member === 'number' ? NAMED.currency : 'text']: member }
  }
  const names = Object.keys(properties)
  const wanted = isFull
    ? names.filter(name => !isExcluded(name, not))
    : names.filter(name => required.includes(name))
  const missing = names.filter(name => !wanted.includes(name))
  while (wanted.length < minProperties && missing.length > 0) wanted.push(missing.shift())
  return Object.fromEntries(wanted.map(name => [name, sampleOf(properties[name], isFull, name)]))
}

/** Of fields that exclude each other, the first one stays. */
const isExcluded = (name, not) => (not?.required ?? []).slice(1).includes(name)

function textFor({ format, pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY }, name) {
  const isFit = text =>
    text.length >= minLength &&
    text.length <= maxLength &&
    (pattern === undefined || new RegExp(pattern, 'u').test(text))
  const texts = [NAMED[name], FORMATS[format], ...TEXTS].filter(text => typeof text === 'string')
  return texts.find(isFit) ?? 'text'.padEnd(minLength, '.').slice(0, maxLength)
}

function numberFor({ minimum, maximum }, name) {
  const number = NAMED[name] ?? 1
  if (minimum !== undefined && number < minimum) return minimum
  return maximum !== undefined && number > maximum ? maximum : number
}
