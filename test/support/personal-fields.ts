import type { EventType } from '../../src/kernel/events.ts'
import { Currency } from '../../src/kernel/wire.ts'

type Schema = {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** Formats whose values name no person. The id of an account stays in the log, because other systems erase by it. */
const HARMLESS_FORMATS: readonly string[] = ['uuid', 'date-time', 'date']

const HARMLESS_TYPES: readonly string[] = ['integer', 'number', 'boolean', 'null']

/** Whether a value of this schema can contain free text, and so a name or an address. */
function canHoldText({
  type = [],
  format,
  description,
  items,
  anyOf,
  properties,
  ...schema
}: Schema): boolean {
  if (schema.enum !== undefined || schema.const !== undefined) return false
  if (anyOf !== undefined) return anyOf.some(canHoldText)
  if (items !== undefined) return canHoldText(items)
  if (properties !== undefined) return Object.values(properties).some(canHoldText)
  const types = [type].flat()
  if (types.includes('string'))
    return !HARMLESS_FORMATS.includes(format ?? '') && description !== (Currency as Schema).description
  return types.length === 0 || types.some(each => !HARMLESS_TYPES.includes(each))
}

/**
 * Returns the fields of the event's payload that can hold personal data and are neither declared in `personalFields` nor in
 * `harmless`. A payload is a list of ids, amounts and statuses, so every field with free text is suspect.
 */
export function undeclaredPersonalFields(
  { name, personalFields = [], payload }: EventType,
  harmless: Readonly<Record<string, string>> = {}
): string[] {
  return Object.entries((payload as Schema).properties ?? {})
    .filter(([field, schema]) => !personalFields.includes(field) && canHoldText(schema))
    .map(([field]) => `${name}.${field}`)
    .filter(field => !(field in harmless))
}
