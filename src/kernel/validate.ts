import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import formats, { type FormatsPlugin } from 'ajv-formats'

/** Where (a JSON pointer, RFC 6901) and how a value does not fit its schema. */
export type SchemaError = Pick<ErrorObject, 'keyword' | 'instancePath' | 'message' | 'params'>

const ERRORS_MAX = 8
// Looking for all errors costs time and memory by the size of the value; somebody who sends a large wrong one learns
// of the first.
const LENGTH_MAX = 65_536

const addFormats = formats as unknown as FormatsPlugin
// As PostgreSQL writes them: the library's own format also takes a URN.
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const createAjv = (options: Options) =>
  addFormats(new Ajv({ strict: true, strictTypes: false, strictRequired: false, ...options })).addFormat(
    'uuid',
    UUID
  )
const firstError = createAjv({})
const allErrors = createAjv({ allErrors: true })

/** Compiles a schema, which takes some milliseconds, to a function that lists what is wrong: nothing, if it fits. */
export function compileSchema(schema: object): (value: unknown) => SchemaError[] {
  const validate = firstError.compile(schema)
  let explain: ValidateFunction | undefined
  return value => {
    if (validate(value)) return []
    if ((JSON.stringify(value) ?? '').length > LENGTH_MAX) return validate.errors ?? []
    explain ??= allErrors.compile(schema)
    explain(value)
    return (explain.errors ?? []).slice(0, ERRORS_MAX)
  }
}
