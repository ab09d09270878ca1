import { createRequire } from 'node:module'
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import type { FormatsPlugin } from 'ajv-formats'

/** A violation of a schema. `instancePath` is a JSON pointer (RFC 6901). `wordsOf` returns its message. */
export type SchemaViolation = Pick<
  ErrorObject,
  'keyword' | 'instancePath' | 'schemaPath' | 'params' | 'schema' | 'parentSchema'
>

const ERRORS_MAX = 8
// Finding all errors of a value takes time and memory in proportion to it, so only the first error of a larger value
// is reported.
const SIZE_MAX = 65_536
/** What each value counts in addition to its characters, when the size of a JSON value is computed. */
const VALUE_SIZE = 8

// A UUID in the form that PostgreSQL returns. The library's own format also accepts a URN.
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

const require = createRequire(import.meta.url)
let compilers: { firstError: Ajv; allErrors: Ajv } | undefined

/** Loads the compilers on first use: 70 files (2026-11), which most starts do not need. */
function loadCompilers() {
  const { Ajv } = require('ajv') as typeof import('ajv')
  const addFormats: FormatsPlugin = require('ajv-formats')
  const { validate: isDateTime } = addFormats.get('date-time') as { validate: (text: string) => boolean }
  const create = (allErrors: boolean) =>
    addFormats(
      new Ajv({
        allErrors,
        strict: true,
        // Keywords of the shop, which the compiler ignores. The gateway reads the maximum length and the hints for
        // unknown members. The configuration reads whether a value may contain a password.
        keywords: ['x-bytes-max', 'x-absent', 'x-holds-password'],
        strictTypes: false,
        strictRequired: false,
        verbose: true,
        // Schemas are not validated at run time, because the first one takes 60 ms. `test/schemas.test.ts` validates
        // them all.
        validateSchema: false
      })
    )
      .addFormat('uuid', UUID)
      // RFC 3339 has leap seconds, which a `Date` cannot represent.
      .addFormat('date-time', text => isDateTime(text) && !Number.isNaN(Date.parse(text)))
  return { firstError: create(false), allErrors: create(true) }
}

/**
 * Returns a function that returns the errors of a value; [] when it matches. It compiles the schema at its first value, because
 * that takes some milliseconds and most processes use few schemas.
 */
export function compileSchema(schema: object): (value: unknown) => SchemaViolation[] {
  let validate: ValidateFunction | undefined
  let explain: ValidateFunction | undefined
  return value => {
    compilers ??= loadCompilers()
    validate ??= compilers.firstError.compile(schema)
    if (validate(value)) return []
    if (sizeLeft(value, SIZE_MAX) < 0) return chosen(validate.errors)
    explain ??= compilers.allErrors.compile(schema)
    explain(value)
    return chosen(explain.errors).slice(0, ERRORS_MAX)
  }
}

/** Subtracts the size of the value from `size`. Stops as soon as the result is negative, and allocates nothing. */
function sizeLeft(value: unknown, size: number): number {
  if (typeof value === 'string') return size - VALUE_SIZE - value.length
  let left = size - VALUE_SIZE
  if (typeof value !== 'object' || value === null) return left
  for (const name in value) {
    if (left < 0) break
    left = sizeLeft((value as Record<string, unknown>)[name], left - name.length)
  }
  return left
}

/**
 * Keeps the errors of the `anyOf` branch that is nearest to the value, and drops those of the other branches. The errors of the
 * branches come directly before the one of the union.
 */
function chosen(errors: readonly SchemaViolation[] | null | undefined): SchemaViolation[] {
  const kept: SchemaViolation[] = []
  for (const error of errors ?? []) {
    if (error.keyword !== 'anyOf') {
      kept.push(error)
      continue
    }
    const start = kept.findLastIndex(each => !each.schemaPath.startsWith(`${error.schemaPath}/`)) + 1
    const branches = Object.groupBy(kept.splice(start), ({ schemaPath }) => branchOf(schemaPath, error))
    const [nearest = []] = Object.values(branches)
      .map((branch = []) => branch)
      .sort((a, b) => strangeness(a, error) - strangeness(b, error))
    kept.push(...nearest)
  }
  return kept
}

const branchOf = (schemaPath: string, union: SchemaViolation) =>
  schemaPath.slice(union.schemaPath.length + 1).split('/', 1)[0] as string

const SHAPE = ['type', 'required', 'additionalProperties']
/** Counts errors in the shape of the value itself, not in its members. */
const strangeness = (branch: readonly SchemaViolation[], { instancePath }: SchemaViolation) =>
  branch.filter(error => error.instancePath === instancePath && SHAPE.includes(error.keyword)).length
