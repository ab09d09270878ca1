import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { noContent } from '../../../kernel/wire.ts'
import { neverStored } from '../accounts/routes.ts'
import * as schema from './schema.ts'
import type { SecondFactors } from './service.ts'

const own = { class: 'account', anyScope: true, forPeople: true } as const
const config = { ...own, recentLogin: 'everyone' } as const

/** An administrator's own second factor. */
export function secondFactorRoutes(tiers: Tiers, factors: SecondFactors): void {
  tiers.admin.get(
    '/auth/second-factor',
    {
      config: { ...own, beforeEnrolment: true },
      schema: { summary: 'Retrieve the own second factor', response: { 200: schema.SecondFactorResponse } }
    },
    request => factors.read(identityOf(request).userId)
  )
  tiers.admin.post(
    '/auth/second-factor',
    {
      config: { ...config, beforeEnrolment: true, secret: 200, errors: ['conflict'] },
      schema: {
        summary: 'Begin to enrol a second factor',
        description:
          'Returns the secret for an authenticator app. It counts once its first code is confirmed; beginning again replaces it.',
        response: { 200: schema.EnrolmentResponse }
      },
      onRequest: neverStored
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
          'From now on each log-in needs a code. Ends every other session, and returns ten recovery codes this once.',
        body: schema.ConfirmEnrolmentRequest,
        response: { 200: schema.RecoveryCodesResponse }
      },
      onRequest: neverStored
    },
    request => factors.confirm(identityOf(request), request.body.code, writeOf(request))
  )
  tiers.admin.post(
    '/auth/second-factor/recovery-codes',
    {
      config: { ...config, secret: 200, errors: ['conflict'] },
      schema: {
        summary: 'Replace the recovery codes',
        description: 'Returns ten new ones this once; the others are refused from now on.',
        response: { 200: schema.RecoveryCodesResponse }
      },
      onRequest: neverStored
    },
    request => factors.replaceRecoveryCodes(identityOf(request).userId, writeOf(request))
  )
  tiers.admin.delete(
    '/auth/second-factor',
    {
      config: { ...config, errors: ['conflict'] },
      schema: {
        summary: 'Remove the own second factor',
        description: 'Where the shop requires one, only the routes that enrol it are open afterwards.',
        response: noContent
      }
    },
    request => factors.remove(identityOf(request).userId, writeOf(request))
  )
}
