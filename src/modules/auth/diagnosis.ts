import {
  type DiagnosisCheck,
  errorDiagnosisFinding,
  okDiagnosisFinding,
  warningDiagnosisFinding
} from '../../kernel/diagnosis.ts'
import type { HttpClient } from '../../platform/http/client.ts'
import type { Queryable } from '../../platform/postgres/database.ts'
import type { AuthSettings } from './settings.ts'
import { fetchIssuerKeySet } from './tokens/issuer-keys.ts'
import { existsActiveAdmin } from './users/repository.ts'

/** Checks that external issuers are reachable, and that registration cannot yield an account that looks like staff. */
export function diagnoseAuthSettings(
  settings: AuthSettings,
  { http }: { http: HttpClient }
): readonly DiagnosisCheck[] {
  return [
    { about: 'registration', find: () => judgeRegistration(settings) },
    ...settings.issuers.map(({ issuer }) => ({
      about: `issuer ${issuer}`,
      find: async () => {
        try {
          await fetchIssuerKeySet({ http, issuer, signal: new AbortController().signal })
          return okDiagnosisFinding('reachable; its keys were loaded')
        } catch (error) {
          const { message, cause } = error as Error
          return errorDiagnosisFinding(
            `its keys cannot be loaded: ${cause instanceof Error ? cause.message : message}`,
            `Its access tokens are rejected. Check that this machine can reach ${issuer}, or remove it from auth.issuers.`
          )
        }
      }
    }))
  ]
}

/** Finds administrators of a shop in production who may log in with a password alone. */
export const diagnoseAdminSecondFactor = (
  db: Queryable,
  { isRequired, isProduction }: { isRequired: boolean; isProduction: boolean }
): readonly DiagnosisCheck[] => [
  {
    about: 'second factor',
    async find() {
      if (isRequired) return okDiagnosisFinding('required for administrators')
      if (!isProduction) return okDiagnosisFinding('not required for administrators outside production')
      if ((await db.first(existsActiveAdmin))?.found !== true)
        return okDiagnosisFinding('no administrator yet')
      return warningDiagnosisFinding(
        'administrators can log in with a password alone',
        'Set auth.require_second_factor: true. Administrators without a second factor enroll one after the next login.'
      )
    }
  }
]

function judgeRegistration({ registration, email_domains, admin_email, issuers }: AuthSettings) {
  const domain = admin_email.split('@')[1]?.toLowerCase()
  const byAddress = issuers.find(
    ({ admin_claim }) => admin_claim !== undefined && /email/.test(admin_claim.path)
  )
  if (byAddress !== undefined)
    return warningDiagnosisFinding(
      `tokens of ${byAddress.issuer} grant the administrator role by e-mail address`,
      'The issuer may not verify e-mail addresses. Set admin_claim to a claim for roles or groups.'
    )
  if (
    registration === 'open' &&
    domain !== undefined &&
    email_domains.some(each => each.toLowerCase() === domain)
  )
    return warningDiagnosisFinding(
      `registration is open for addresses of ${domain}, the domain of your administrator`,
      'Set auth.registration: invite, or remove that domain from auth.email_domains.'
    )
  return okDiagnosisFinding(
    `${registration}${email_domains.length > 0 ? `, for ${email_domains.join(', ')}` : ''}`
  )
}
