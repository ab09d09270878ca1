import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, request, response, Time } from '../../../kernel/wire.ts'
import { PasswordSchema } from '../users/schema.ts'

export const DeleteAccountRequest = request('DeleteAccountRequest', {
  password: Type.Optional(Type.Unsafe<string>({ ...PasswordSchema, description: 'The current password.' })),
  confirm: Type.Optional(
    Type.Literal(true, {
      description: 'Sent instead of the password by accounts of external issuers, which have none.'
    })
  )
})
export type DeleteAccountRequest = Static<typeof DeleteAccountRequest>

export const AccountExportResponse = response('AccountExportResponse', {
  user_id: Id,
  exported_at: Time,
  parts: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description: 'The stored data, grouped by module name.'
  })
})
export type AccountExportResponse = Static<typeof AccountExportResponse>
