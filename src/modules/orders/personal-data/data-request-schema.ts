import { type Static, Type } from '../../../kernel/schema.ts'
import { nullable, request, response } from '../../../kernel/wire.ts'
import { GuestOrderIdsAndNumbersSchema, PersonalDataByModuleSchema } from './guest-data-schema.ts'

const Action = Type.Enum(['export', 'erase'])

export const DataRequestRequest = request('DataRequestRequest', {
  email: Type.String({
    minLength: 3,
    maxLength: 320,
    description: 'The address that the guest ordered with.'
  }),
  action: { ...Action, description: 'What happens when the guest confirms the link.' }
})
export type DataRequestRequest = Static<typeof DataRequestRequest>

export const ConfirmDataRequestRequest = request('ConfirmDataRequestRequest', {
  token: Type.String({ minLength: 1, maxLength: 200, description: 'The token from the link in the mail.' })
})

export const DataRequestResponse = response('DataRequestResponse', {
  expires_in: Type.Integer({ description: 'Seconds for which the link works, if one is sent.' })
})

export const DataRequestConfirmedResponse = response('DataRequestConfirmedResponse', {
  action: Action,
  orders: { ...GuestOrderIdsAndNumbersSchema, description: 'The orders that were exported or erased.' },
  parts: nullable({
    ...PersonalDataByModuleSchema,
    description: 'Personal data by module name. Null after an erasure.'
  })
})
export type DataRequestConfirmedResponse = Static<typeof DataRequestConfirmedResponse>
