import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, line, nullable, request, response, Time } from '../../../kernel/wire.ts'

const Scopes = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  maxItems: 50,
  description: 'The modules that the key can manage. Missing or null: all modules of its owner.'
})

export const CreateApiKeyRequest = request('CreateApiKeyRequest', {
  name: line(200, 'The purpose of the key, for the list of keys.'),
  scopes: Type.Optional(nullable(Scopes)),
  expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_650, default: 365 }))
})
export type CreateApiKeyRequest = Static<typeof CreateApiKeyRequest>

const key = {
  id: Id,
  name: Type.String(),
  scopes: nullable(Scopes),
  created_at: Time,
  expires_at: Time,
  last_used_at: nullable(Time)
}
export const ApiKeyResponse = response('ApiKeyResponse', key)
export const NewApiKeyResponse = response('NewApiKeyResponse', {
  ...key,
  api_key: Type.String({
    description: 'The key to exchange for access tokens. Only this response contains it.'
  })
})

export const ExchangeApiKeyRequest = request('ExchangeApiKeyRequest', {
  api_key: Type.String({ minLength: 1, maxLength: 200 })
})
export const MachineTokenResponse = response('MachineTokenResponse', {
  access_token: Type.String({ description: 'Send it as "Authorization: Bearer <token>".' }),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({
    description: 'Seconds until the access token expires; then exchange the key again.'
  })
})
