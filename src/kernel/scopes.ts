import { defineError } from './errors.ts'

/** The administrator or API key lacks the scope of the route's module (`scope`), or full access (`scope` is null). */
export const scopeMissingError = defineError(
  'forbidden',
  'AUTH_SCOPE_MISSING',
  'The caller lacks access to this module. "scope" names the missing scope; null means full access.'
)
