import { disclosure, el, prose } from './dom.js'
import { resolve } from './openapi.js'

/** Longer lists of values are shown when they are opened. */
const VALUES_SHOWN_MAX = 12
const NO_CONTROL_CHARACTERS = '^[^\\u0000-\\u001f\\u007f]*$'

/** Resolves a schema: its alternatives without null, and whether it may be null. */
export function variantsOf(schema) {
  const { anyOf, oneOf, ...rest } = resolve(schema)
  const all = (anyOf ?? oneOf)?.map(resolve) ?? [rest]
  const isNullable = all.some(({ type }) => [type].flat().includes('null'))
  const variants = all
    .filter(({ type }) => type !== 'null')
    .map(each => ({ ...each, type: [each.type].flat().find(type => type !== 'null') }))
  const description = rest.description ?? (variants.length === 1 ? variants[0].description : undefined)
  return { variants, isNullable, description }
}

/** Names a type as TypeScript would: `string[] | null`. */
export function typeOf(schema) {
  const { variants, isNullable } = variantsOf(schema)
  const names = [...new Set(variants.map(nameOfVariant)), ...(isNullable ? ['null'] : [])]
  return names.join(' | ')
}

function nameOfVariant(variant) {
  const { type, format, items, additionalProperties, properties, name } = variant
  if (type === 'array') {
    const item = typeOf(items ?? {})
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`
  }
  if (properties !== undefined) return name ?? 'object'
  if (typeof additionalProperties === 'object') return `map of ${typeOf(additionalProperties)}`
  if (format === 'binary') return 'file'
  return format === undefined ? (type ?? 'any') : `${type} (${format})`
}

/** Lists in words what a value has to fulfil. */
export function limitsOf(schema) {
  const { variants } = variantsOf(schema)
  return variants.length === 1 ? limitsOfVariant(variants[0]) : []
}

function limitsOfVariant(schema) {
  const { pattern } = schema
  return [
    range(schema.minLength, schema.maxLength, 'character'),
    range(schema.minimum, schema.maximum),
    range(schema.minItems, schema.maxItems, 'item'),
    range(schema.minProperties, schema.maxProperties, 'member'),
    schema.uniqueItems && 'no item twice',
    schema['x-bytes-max'] && `at most ${bytes(schema['x-bytes-max'])} of JSON`,
    schema.default !== undefined && `default ${JSON.stringify(schema.default)}`,
    pattern === NO_CONTROL_CHARACTERS ? 'no control characters' : pattern && el('code', {}, pattern)
  ].filter(Boolean)
}

function range(low, high, unit) {
  if (low === undefined && high === undefined) return undefined
  const count = high ?? low
  const units = unit === undefined ? '' : ` ${unit}${count === 1 ? '' : 's'}`
  if (high === undefined) return `at least ${number(low)}${units}`
  if (low === undefined || (low === 0 && unit !== undefined)) return `at most ${number(high)}${units}`
  return low === high ? `exactly ${number(high)}${units}` : `${number(low)} to ${number(high)}${units}`
}
const number = value => value.toLocaleString('en')
export const bytes = count => (count < 1_024 ? `${count} bytes` : `${number(Math.round(count / 1_024))} KiB`)

/** Shows a schema: its description, and what a value of it looks like. */
export const schemaView = schema => [descriptionOf(schema), ...contentOf(schema)]

function descriptionOf(schema) {
  const { description } = variantsOf(schema)
  return description && prose(description)
}

/** Shows limits and values, and the fields within a value. */
function contentOf(schema) {
  const { variants } = variantsOf(schema)
  const limits = limitsOf(schema).flatMap((limit, index) => (index > 0 ? [' · ', limit] : [limit]))
  return [
    limits.length > 0 && el('p', { class: 'limits' }, limits),
    ...(variants.length > 1 ? [alternatives(variants)] : [values(variants[0]), children(variants[0])])
  ]
}

function values(variant) {
  const { enum: all = variant?.const === undefined ? undefined : [variant.const] } = variant ?? {}
  if (all === undefined) return undefined
  const list = () =>
    el(
      'p',
      { class: 'values' },
      all.flatMap(value => [el('code', {}, JSON.stringify(value)), ' '])
    )
  return all.length <= VALUES_SHOWN_MAX ? list() : disclosure(`${all.length} values`, list)
}

/** The fields of an object, of the items of a list, or of the members of a map. */
function children(variant) {
  const { type, items, properties, additionalProperties } = variant ?? {}
  if (properties !== undefined) return fields(variant)
  if (type === 'array') return inner(items, 'Each item')
  return typeof additionalProperties === 'object' ? inner(additionalProperties, 'Each member') : undefined
}

function inner(schema = {}, title) {
  const parts = schemaView(schema)
  const head = el('p', {}, `${title}: `, el('span', { class: 'type' }, typeOf(schema)))
  return parts.some(Boolean) && el('div', { class: 'inner' }, head, parts)
}

const alternatives = variants =>
  el(
    'div',
    {},
    el('p', {}, 'One of:'),
    variants.map((variant, index) =>
      disclosure(`${index + 1}. ${titleOf(variant)}`, () => schemaView(variant))
    )
  )

/** An alternative is named by its field with a single value, such as `type: "percentage"`. */
function titleOf(variant) {
  const [field, schema] =
    Object.entries(variant.properties ?? {}).find(([, { enum: all }]) => all?.length === 1) ?? []
  if (field !== undefined) return `${field}: ${JSON.stringify(schema.enum[0])}`
  return [typeOf(variant), ...(variant.required ?? [])].join(', ')
}

/** Shows the fields of an object. Fields within a field are rendered when they are opened. */
function fields({ properties, required = [], additionalProperties }) {
  const rows = Object.entries(properties).map(([name, schema]) =>
    el(
      'li',
      {},
      fieldHead(name, schema, required.includes(name)),
      descriptionOf(schema),
      fieldContent(name, schema)
    )
  )
  const further = additionalProperties === true && el('li', {}, 'Further fields are allowed.')
  return el('ul', { class: 'fields' }, rows, further)
}

export const fieldHead = (name, schema, isRequired) =>
  el(
    'span',
    { class: 'field' },
    ...[el('code', {}, name), ' ', el('span', { class: 'type' }, typeOf(schema))],
    isRequired && [' ', el('strong', {}, 'required')]
  )

const fieldContent = (name, schema) =>
  hasFields(schema) ? disclosure(`Fields of ${name}`, () => contentOf(schema)) : contentOf(schema)

function hasFields(schema) {
  return variantsOf(schema).variants.some(({ properties, items, additionalProperties }) => {
    const within = items ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
    return properties !== undefined || (within !== undefined && hasFields(within))
  })
}
