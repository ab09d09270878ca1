import { type Diagnosis, ok, warning, wrong } from '../../kernel/diagnosis.ts'
import type { HttpClient } from '../../platform/http/client.ts'
import type { AuthSettings } from './settings.ts'
import { fetchKeySet } from './tokens/issuer-keys.ts'

/** Whether other issuers can be asked for their keys, and whether strangers can pass as somebody of the shop. */
export function diagnoseAuth(settings: AuthSettings, { http }: { http: HttpClient }): readonly Diagnosis[] {
  return [
    { about: 'registration', find: () => judgeRegistration(settings) },
    ...settings.issuers.map(({ issuer }) => ({
      about: `issuer ${issuer}`,
      find: async () => {
        try {
          await fetchKeySet({ http, issuer, signal: new AbortController().signal })
          return ok('answers, and names its keys')
        } catch (error) {
          const { message, cause } = error as Error
          return wrong(
            `cannot be asked for its keys: ${cause instanceof Error ? cause.message : message}`,
            `Nobody gets in with its tokens. See that this machine reaches ${issuer}, or take it out of auth.issuers.`
          )
        }
      }
    }))
  ]
}

function judgeRegistration({ registration, email_domains, admin_email, issuers }: AuthSettings) {
  const domain = admin_email.split('@')[1]?.toLowerCase()
  const byAddress = issuers.find(
    ({ admin_claim }) => admin_claim !== undefined && /email/.test(admin_claim.path)
  )
  if (byAddress !== undefined)
    return warning(
      `an e-mail address makes somebody an administrator by tokens of ${byAddress.issuer}`,
      'Addresses are not always proved there. Let admin_claim name a claim for roles or groups.'
    )
  if (
    registration === 'open' &&
    domain !== undefined &&
    email_domains.some(each => each.toLowerCase() === domain)
  )
    return warning(
      `everybody may register, and may claim an address of ${domain}, which is that of your administrator`,
      'Set auth.registration: invite, or leave that domain out of auth.email_domains.'
    )
  return ok(`${registration}${email_domains.length > 0 ? `, for ${email_domains.join(', ')}` : ''}`)
}
