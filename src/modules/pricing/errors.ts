import { defineError } from '../../kernel/errors.ts'

export const quoteTooLarge = defineError(
  'invalid',
  'PRICING_QUOTE_TOO_LARGE',
  'This is more than one price can be made of; "what" says of what there is too much, "limit" how much there may be.'
)
