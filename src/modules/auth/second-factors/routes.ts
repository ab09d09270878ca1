import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { noContent } from '../../../kernel/wire.ts'
import { setNoStoreHeader } from '../sessions/routes.ts'
import * as schema from './schema.ts'
import type { SecondFactorService } from './service.ts'

const own = { class: 'account', anyScope: true, isUsersOnly: true } as const
const config = { ...own, recentLogin: 'all' } as const

/** Mounts the routes of an administrator's own second factor. */
export function secondFactorRoutes(tiers: Tiers, factors: SecondFactorService): void {
  tiers.admin.get(
    '/auth/second-factor',
    {
      config: { ...own, beforeEnrolment: true },
      schema: {
        summary: "Retrieve the caller's second factor",
        description:
          'Returns when the administrator enrolled a second factor, and how many recovery codes are left. ' +
          '`enrolled_at` is null without one.',
        response: { 200: schema.SecondFactorResponse }
      }
    },
    request => factors.read(identityOf(request).userId)
  )
  tiers.admin.post(
    '/auth/second-factor',
    {
      config: { ...config, beforeEnrolment: true, secret: 200, errors: ['conflict'] },
      schema: {
        summary: "Create the caller's second factor",
        description:
          'Returns a new secret for an authenticator app. The factor is inactive until `POST ' +
          '/api/auth/second-factor/confirm`; another request replaces the secret. 403 ' +
          '`AUTH_RECENT_LOGIN_REQUIRED`: log in again first. 409 `AUTH_SECOND_FACTOR_ENROLLED`: remove the ' +
          'present factor first. 409 `AUTH_SECOND_FACTOR_EXTERNAL`: use the second factor of the external ' +
          'issuer.',
        response: { 200: schema.EnrolmentResponse }
      },
      onRequest: setNoStoreHeader
    },
    request => factors.begin(identityOf(request).userId, writeOf(request))
  )
  tiers.admin.post(
    '/auth/second-factor/confirm',
    {
      config: { ...config, beforeEnrolment: true, secret: 200, errors: ['conflict'] },
      schema: {
        summary: 'Confirm the second factor',
        description:
          'Activates the factor with the first code of the app. Later logins need a code. Ends all other ' +
          'sessions. Only this response contains the ten recovery codes. 400 ' +
          '`AUTH_SECOND_FACTOR_CODE_WRONG`: send the present code. 409 `AUTH_SECOND_FACTOR_NOT_BEGUN` or ' +
          '`AUTH_SECOND_FACTOR_ENROLLED`: there is no secret to confirm, or it is confirmed already.',
        body: schema.ConfirmEnrolmentRequest,
        response: { 200: schema.RecoveryCodesResponse }
      },
      onRequest: setNoStoreHeader
    },
    request => factors.confirm(identityOf(request), request.body.code, writeOf(request))
  )
  tiers.admin.post(
    '/auth/second-factor/recovery-codes',
    {
      config: { ...config, secret: 200, errors: ['conflict'] },
      schema: {
        summary: 'Replace the recovery codes',
        description:
          'Returns ten new recovery codes and invalidates the old ones. Only this response contains them. ' +
          '403 `AUTH_RECENT_LOGIN_REQUIRED`: log in again first. 409 `AUTH_SECOND_FACTOR_NOT_ENROLLED`: the ' +
          'account has no second factor.',
        response: { 200: schema.RecoveryCodesResponse }
      },
      onRequest: setNoStoreHeader
    },
    request => factors.replaceRecoveryCodes(identityOf(request).userId, writeOf(request))
  )
  tiers.admin.delete(
    '/auth/second-factor',
    {
      config: { ...config, errors: ['conflict'] },
      schema: {
        summary: 'Remove the second factor',
        description:
          'Removes the factor and its recovery codes. If the shop requires a second factor, the caller can ' +
          'then only use the routes that enroll one. 403 `AUTH_RECENT_LOGIN_REQUIRED`: log in again first. ' +
          '409 `AUTH_SECOND_FACTOR_NOT_ENROLLED`: the account has no second factor.',
        response: noContent
      }
    },
    request => factors.remove(identityOf(request).userId, writeOf(request))
  )
}
