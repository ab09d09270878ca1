import { patternWithMessage } from '../../../kernel/patterns.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Country,
  Id,
  input,
  line,
  nullable,
  patchRequest,
  request,
  response,
  Time,
  Version
} from '../../../kernel/wire.ts'

const CODE = '^[a-z0-9][a-z0-9_-]{0,63}$'
export const StockLocationCode = Type.String({
  description: 'Code of the location in files and requests.',
  maxLength: 64,
  ...patternWithMessage(CODE, 'must be lower-case letters, digits, "-" and "_", up to 64')
})
const text = Type.Optional(line(255))
const LocationAddress = input({
  street: text,
  city: text,
  region: text,
  postal_code: text,
  country: Type.Optional(Country)
})
const Priority = Type.Integer({
  description: 'Stock is taken from the lowest number first. Default: last.',
  minimum: 1,
  maximum: 1_000_000
})

const fields = {
  name: line(255),
  address: nullable(LocationAddress),
  priority: Priority,
  active: Type.Boolean()
}
export const CreateLocationRequest = request('CreateLocationRequest', {
  code: StockLocationCode,
  name: fields.name,
  address: Type.Optional(fields.address),
  priority: Type.Optional(fields.priority),
  active: Type.Optional(Type.Boolean({ default: true }))
})
export type CreateLocationRequest = Static<typeof CreateLocationRequest>
/** The code cannot change, because files and other systems reference it. */
export const UpdateLocationRequest = patchRequest('UpdateLocationRequest', fields)
export type UpdateLocationRequest = Static<typeof UpdateLocationRequest>

export const LocationResponse = response('LocationResponse', {
  id: Id,
  code: Type.String(),
  name: Type.String(),
  address: nullable(LocationAddress),
  priority: Type.Integer(),
  active: Type.Boolean({ description: 'Whether its stock is sold.' }),
  version: Version,
  created_at: Time
})
export type LocationResponse = Static<typeof LocationResponse>
export type LocationAddress = Static<typeof LocationAddress>
