import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { UserResponse } from '../accounts/schema.ts'
import * as schema from './schema.ts'
import type { Profiles } from './service.ts'

const config = { class: 'account' } as const

export function profileRoutes(tiers: Tiers, profiles: Profiles): void {
  tiers.secured.get(
    '/auth/me',
    {
      config: { ...config, forMachines: true },
      schema: { summary: 'Read the own account', response: { 200: UserResponse } }
    },
    request => profiles.read(identityOf(request))
  )
  tiers.secured.patch(
    '/auth/me',
    {
      config,
      schema: {
        summary: 'Change what the own account says of oneself',
        body: schema.UpdateAccountRequest,
        response: { 200: UserResponse }
      }
    },
    request => profiles.update(identityOf(request), request.body, writeOf(request))
  )
}
