import { customerMetadataRequestFields } from '../../../kernel/metadata.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { line, nullable, patchRequest } from '../../../kernel/wire.ts'
import { LocaleSchema, UserNameSchema } from '../users/schema.ts'

export const UpdateAccountRequest = patchRequest('UpdateAccountRequest', {
  name: nullable(UserNameSchema),
  phone: nullable(line(32, 'With + and the country code.')),
  locale: nullable(LocaleSchema),
  marketing_consent: Type.Boolean({ description: 'Whether the user agreed to advertising mails.' }),
  ...customerMetadataRequestFields
})
export type UpdateAccountRequest = Static<typeof UpdateAccountRequest>
