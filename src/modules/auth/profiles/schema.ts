import { type Static, Type } from '../../../kernel/schema.ts'
import { line, nullable, patchRequest } from '../../../kernel/wire.ts'
import { Locale, Name } from '../users/schema.ts'

export const UpdateAccountRequest = patchRequest('UpdateAccountRequest', {
  name: nullable(Name),
  phone: nullable(line(32, 'With + and the country code.')),
  locale: nullable(Locale),
  marketing_consent: Type.Boolean({ description: 'Whether the user agreed to advertising mails.' })
})
export type UpdateAccountRequest = Static<typeof UpdateAccountRequest>
