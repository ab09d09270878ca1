import { matching } from '../../../kernel/patterns.ts'
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
export const LocationCode = Type.String({
  description: 'The name by which files and requests know it.',
  maxLength: 64,
  ...matching(CODE, 'must be lower-case letters, digits, "-" and "_", up to 64')
})
const text = Type.Optional(line(255))
const Address = input({
  street: text,
  city: text,
  region: text,
  postal_code: text,
  country: Type.Optional(Country)
})
const Priority = Type.Integer({
  description: 'Stock is taken from the location with the lowest number first; by default behind all others.',
  minimum: 1,
  maximum: 1_000_000
})

const fields = { name: line(255), address: nullable(Address), priority: Priority, active: Type.Boolean() }
export const CreateLocationRequest = request('CreateLocationRequest', {
  code: LocationCode,
  name: fields.name,
  address: Type.Optional(fields.address),
  priority: Type.Optional(fields.priority),
  active: Type.Optional(Type.Boolean({ default: true }))
})
export type CreateLocationRequest = Static<typeof CreateLocationRequest>
/** The code stays: files and other systems know the location by it. */
export const UpdateLocationRequest = patchRequest('UpdateLocationRequest', fields)
export type UpdateLocationRequest = Static<typeof UpdateLocationRequest>

export const LocationResponse = response('LocationResponse', {
  id: Id,
  code: Type.String(),
  name: Type.String(),
  address: nullable(Address),
  priority: Type.Integer(),
  active: Type.Boolean({ description: 'Whether stock is sold from here.' }),
  version: Version,
  created_at: Time
})
export type LocationResponse = Static<typeof LocationResponse>
export type Address = Static<typeof Address>
