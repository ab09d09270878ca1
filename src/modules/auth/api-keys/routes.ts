import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import { type AuthRateLimits, setNoStoreHeader } from '../sessions/routes.ts'
import * as schema from './schema.ts'
import type { ApiKeyService } from './service.ts'

const config = { class: 'account' } as const

export function apiKeyRoutes(tiers: Tiers, keys: ApiKeyService, limits: AuthRateLimits): void {
  tiers.public.post(
    '/auth/token',
    {
      config: {
        allowedInMaintenance: 'programs of administrators need tokens',
        class: 'account',
        limit: limits.login,
        secret: 200,
        noReplay: 'each try issues another token',
        errors: ['unauthenticated']
      },
      schema: {
        summary: 'Exchange an API key',
        description:
          'Returns an access token that carries the rights of the API key. It has no refresh token; send ' +
          'the key again before `expires_in`. 401 `AUTH_INVALID_API_KEY`: the key is unknown, expired or ' +
          'revoked, or its owner is no longer an administrator.',
        body: schema.ExchangeApiKeyRequest,
        response: { 200: schema.MachineTokenResponse }
      },
      onRequest: setNoStoreHeader
    },
    request => keys.exchange(request.body.api_key)
  )
  tiers.admin.post(
    '/auth/api-keys',
    {
      config: { class: 'account', isUsersOnly: true, recentLogin: 'all', secret: 201 },
      schema: {
        summary: 'Create an API key',
        description:
          'Creates a key for a program, with the rights of the caller or fewer. Only this response contains ' +
          'the key. 403 `AUTH_RECENT_LOGIN_REQUIRED`: log in again first. 403 `AUTH_API_KEY_SCOPES`: ' +
          '`missing` lists scopes that the caller does not have. 409 `AUTH_API_KEY_LIMIT`: revoke a key ' +
          'first; `limit` is the maximum.',
        body: schema.CreateApiKeyRequest,
        response: { 201: schema.NewApiKeyResponse }
      },
      onRequest: setNoStoreHeader
    },
    request => keys.create(identityOf(request), request.body, writeOf(request))
  )
  tiers.admin.get(
    '/auth/api-keys',
    {
      config,
      schema: {
        summary: "List the caller's API keys",
        description:
          'Returns the API keys of the caller, the newest first. The response never contains the keys ' +
          'themselves.',
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
        summary: 'Revoke an API key',
        description:
          'Deletes one API key of the caller. Access tokens from this key stop working within a second. 404 ' +
          '`AUTH_API_KEY_NOT_FOUND`: the caller has no key with this id.',
        params: IdParams,
        response: noContent
      }
    },
    request => keys.revoke(identityOf(request), request.params.id, writeOf(request))
  )
}
