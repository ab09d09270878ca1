import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import { type AuthLimits, neverStored } from '../accounts/routes.ts'
import * as schema from './schema.ts'
import type { ApiKeys } from './service.ts'

const config = { class: 'account' } as const

export function apiKeyRoutes(tiers: Tiers, keys: ApiKeys, limits: AuthLimits): void {
  tiers.public.post(
    '/auth/token',
    {
      config: {
        inMaintenance: 'machines of administrators ask for it',
        class: 'account',
        limit: limits.login,
        secret: 200,
        unwritten: 'each try makes a token of its own',
        errors: ['unauthenticated']
      },
      schema: {
        summary: 'Exchange an API key for an access token',
        body: schema.ExchangeApiKeyRequest,
        response: { 200: schema.MachineTokenResponse }
      },
      onRequest: neverStored
    },
    request => keys.exchange(request.body.api_key)
  )
  tiers.admin.post(
    '/auth/api-keys',
    {
      config: { class: 'account', forPeople: true, recentLogin: 'everyone', secret: 201 },
      schema: {
        summary: 'Make an API key for a machine',
        description:
          'It may do what its owner may, or less. A token that was stolen lives for minutes and a key for years, so making one needs a recent log-in.',
        body: schema.CreateApiKeyRequest,
        response: { 201: schema.NewApiKeyResponse }
      },
      onRequest: neverStored
    },
    request => keys.create(identityOf(request), request.body, writeOf(request))
  )
  tiers.admin.get(
    '/auth/api-keys',
    {
      config,
      schema: {
        summary: 'List the own API keys',
        querystring: PageQuery,
        response: { 200: listOf(schema.ApiKeyResponse) }
      }
    },
    request => keys.list(identityOf(request), request.query)
  )
  tiers.admin.delete(
    '/auth/api-keys/:id',
    {
      config,
      schema: {
        summary: 'Revoke one of the own API keys',
        description: 'Its tokens end with it, everywhere within a second.',
        params: IdParams,
        response: noContent
      }
    },
    request => keys.revoke(identityOf(request), request.params.id, writeOf(request))
  )
}
