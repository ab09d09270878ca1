import { defineError } from './errors.ts'

/** An administrator who may look after some modules asks for something of another one. */
export const scopeMissing = defineError(
  'forbidden',
  'AUTH_SCOPE_MISSING',
  'This administrator may not do that; "scope" says what is missing.'
)
