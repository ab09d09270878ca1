import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, request, response, Time } from '../../../kernel/wire.ts'

export const GuestDataRequest = request('GuestDataRequest', {
  order_id: Type.Optional({ ...Id, description: 'An order of a guest.' }),
  email: Type.Optional(
    Type.String({
      minLength: 3,
      maxLength: 320,
      description: 'Selects all orders of guests with this address.'
    })
  )
})
export type GuestDataRequest = Static<typeof GuestDataRequest>

export const GuestOrderIdsAndNumbersSchema = Type.Array(Type.Object({ id: Id, number: Type.String() }))

export const PersonalDataByModuleSchema = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: 'Personal data by module name.'
})

export const GuestDataErasedResponse = response('GuestDataErasedResponse', {
  orders: {
    ...GuestOrderIdsAndNumbersSchema,
    description: 'The orders whose personal data was erased. Empty when there was none.'
  }
})
export type GuestDataErasedResponse = Static<typeof GuestDataErasedResponse>

export const GuestDataExportResponse = response('GuestDataExportResponse', {
  exported_at: Time,
  orders: GuestOrderIdsAndNumbersSchema,
  parts: PersonalDataByModuleSchema
})
export type GuestDataExportResponse = Static<typeof GuestDataExportResponse>
