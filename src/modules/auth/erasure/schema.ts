import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, request, response, Time } from '../../../kernel/wire.ts'
import { Password } from '../accounts/schema.ts'

export const DeleteAccountRequest = request('DeleteAccountRequest', {
  password: Type.Optional(Type.Unsafe<string>({ ...Password, description: 'The present one.' })),
  confirm: Type.Optional(
    Type.Literal(true, {
      description: 'In its place, for accounts of other issuers, which have no password.'
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
    description: 'What each module keeps, by the names of the modules.'
  })
})
export type AccountExportResponse = Static<typeof AccountExportResponse>
