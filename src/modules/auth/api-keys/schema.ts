import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, line, nullable, request, response, Time } from '../../../kernel/wire.ts'

const Scopes = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  maxItems: 50,
  description: 'Modules whose administration it may use; left out or null: all that its owner may.'
})

export const CreateApiKeyRequest = request('CreateApiKeyRequest', {
  name: line(200, 'What it is for.'),
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
  api_key: Type.String({ description: 'To be exchanged for tokens; told this once.' })
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
