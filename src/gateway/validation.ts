import buildStringify from 'fast-json-stringify'
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { Value } from 'typebox/value'
import { validationError } from './problem.ts'

// Both compilers work at the first request of a route and not at start: compiling 40 routes takes 100 ms, and most
// processes are started to serve a few of them soon. A body is taken as it is; what comes in a URL is text, and is
// converted to what its schema asks for.
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = 'body' }) => {
  let validator: Validator | undefined
  return (value: unknown) => {
    validator ??= Compile(schema)
    const candidate = httpPart === 'body' ? value : Value.Convert(schema, value)
    if (validator.Check(candidate)) return { value: candidate }
    return { error: validationError(httpPart, validator.Errors(candidate)) }
  }
}

export const compileSerializer: FastifySerializerCompiler<TSchema> = ({ schema }) => {
  let stringify: ((value: unknown) => string) | undefined
  return value => {
    stringify ??= buildStringify(schema as Parameters<typeof buildStringify>[0]) as (value: unknown) => string
    return stringify(value)
  }
}
