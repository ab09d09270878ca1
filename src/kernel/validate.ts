import { createRequire } from 'node:module'
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import type { FormatsPlugin } from 'ajv-formats'

/** Where (a JSON pointer, RFC 6901) and how a value does not fit its schema. `wordsOf` says it. */
export type SchemaError = Pick<
  ErrorObject,
  'keyword' | 'instancePath' | 'schemaPath' | 'params' | 'schema' | 'parentSchema'
>

const ERRORS_MAX = 8
// Looking for all errors costs time and memory by the size of the value, so of a large one only the first is reported.
const SIZE_MAX = 65_536
/** What a value counts beside its characters. */
const VALUE_SIZE = 8

// As PostgreSQL writes them: the library's own format also takes a URN.
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

const require = createRequire(import.meta.url)
let compilers: { firstError: Ajv; allErrors: Ajv } | undefined

/** Loaded with the first schema that is compiled, and most starts need none: 70 files (2026-11). */
function loadCompilers() {
  const { Ajv } = require('ajv') as typeof import('ajv')
  const addFormats: FormatsPlugin = require('ajv-formats')
  const create = (allErrors: boolean) =>
    addFormats(
      new Ajv({
        allErrors,
        strict: true,
        // Read by the gateway: how long a value may be, and what to use instead of members that do not exist; by the
        // configuration: whose value is not repeated.
        keywords: ['x-bytes-max', 'x-absent', 'x-holds-password'],
        strictTypes: false,
        strictRequired: false,
        verbose: true,
        // Takes 60 ms for the first one. `test/schemas.test.ts` does it once for all.
        validateSchema: false
      })
    ).addFormat('uuid', UUID)
  return { firstError: create(false), allErrors: create(true) }
}

/** Compiles a schema, which takes some milliseconds, to a function that lists what is wrong: nothing, if it fits. */
export function compileSchema(schema: object): (value: unknown) => SchemaError[] {
  compilers ??= loadCompilers()
  const { firstError, allErrors } = compilers
  const validate = firstError.compile(schema)
  let explain: ValidateFunction | undefined
  return value => {
    if (validate(value)) return []
    if (sizeLeft(value, SIZE_MAX) < 0) return chosen(validate.errors)
    explain ??= allErrors.compile(schema)
    explain(value)
    return chosen(explain.errors).slice(0, ERRORS_MAX)
  }
}

/** What is left of `size` after the value; negative when it is larger. It stops there and builds nothing. */
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
 * Of what was tried in vain (`anyOf`) the branch that comes nearest to the value: what is wrong with the others is
 * nobody's business. The errors of the branches come directly before the one of the union.
 */
function chosen(errors: readonly SchemaError[] | null | undefined): SchemaError[] {
  const kept: SchemaError[] = []
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

const branchOf = (schemaPath: string, union: SchemaError) =>
  schemaPath.slice(union.schemaPath.length + 1).split('/', 1)[0] as string

const SHAPE = ['type', 'required', 'additionalProperties']
/** How much of the shape itself is wrong, and not of what is in it. */
const strangeness = (branch: readonly SchemaError[], { instancePath }: SchemaError) =>
  branch.filter(error => error.instancePath === instancePath && SHAPE.includes(error.keyword)).length
