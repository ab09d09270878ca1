import { identityOf } from '../../../gateway/callers/identity.ts'
import type { RouteLimit, Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { noContent } from '../../../kernel/wire.ts'
import * as schema from './schema.ts'
import type { AccountErasure } from './service.ts'

export function accountErasureRoutes(tiers: Tiers, erasure: AccountErasure, exports: RouteLimit): void {
  tiers.secured.post(
    '/auth/me/delete',
    {
      config: { class: 'account' },
      schema: {
        summary: "Delete the caller's account",
        description:
          'Erases the personal data of the caller and ends all sessions. Amounts of orders and other ' +
          'records that the shop must keep stay, without the customer. Needs the password, or `confirm` for ' +
          'an account without a password. 401 `AUTH_INVALID_CREDENTIALS`: the password is wrong. 409 ' +
          '`ORDER_STILL_OPEN`: nothing is erased; complete or cancel the open orders first. 409 ' +
          '`AUTH_LAST_ADMIN`: make another administrator first.',
        body: schema.DeleteAccountRequest,
        response: noContent
      }
    },
    request => erasure.deleteOwnAccount(identityOf(request), request.body, writeOf(request))
  )
  tiers.secured.get(
    '/auth/me/export',
    {
      config: { class: 'bulk', limit: exports },
      schema: {
        summary: "Export the caller's personal data",
        description:
          'Returns all personal data of the caller (GDPR article 15), grouped by module. The limit of ' +
          'requests per minute is low.',
        response: { 200: schema.AccountExportResponse }
      }
    },
    request => erasure.export(identityOf(request).userId)
  )
}
