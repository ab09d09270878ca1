import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { UserResponse } from '../users/schema.ts'
import * as schema from './schema.ts'
import type { ProfileService } from './service.ts'

const config = { class: 'account' } as const

export function profileRoutes(tiers: Tiers, profiles: ProfileService): void {
  tiers.secured.get(
    '/auth/me',
    {
      config: { ...config, allowsApiKeys: true },
      schema: {
        summary: "Retrieve the caller's account",
        description:
          'Returns the account of the access token. `role` is the role in the token. API keys can use it ' +
          'too: they get the account of their owner.',
        response: { 200: UserResponse }
      }
    },
    request => profiles.read(identityOf(request))
  )
  tiers.secured.patch(
    '/auth/me',
    {
      config,
      schema: {
        summary: "Update the caller's account",
        description:
          'Changes the sent fields; null clears a field. To change the e-mail address use `POST ' +
          '/api/auth/email`. 400 `AUTH_PHONE_INVALID` or `AUTH_LOCALE_INVALID`: correct the field.',
        body: schema.UpdateAccountRequest,
        response: { 200: UserResponse }
      }
    },
    request => profiles.update(identityOf(request), request.body, writeOf(request))
  )
}
