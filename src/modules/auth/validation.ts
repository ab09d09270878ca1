import { normalizeDomain, parseEmail } from '../../kernel/email.ts'
import type { SettingProblem } from '../../kernel/settings.ts'
import { HTTP_URL_MESSAGE, isHttpUrl } from '../../kernel/urls.ts'
import { createPasswordStrengthCheck } from './passwords/policy.ts'
import type { AuthSettings } from './settings.ts'

const DOMAIN = /^[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)*$/u

/** Returns problems of the settings of accounts and tokens. */
export function validateAuthSettings(
  settings: AuthSettings,
  { server, shop }: { server: { public_url: string }; shop: { name: string } }
): SettingProblem[] {
  const { issuers, email_domains } = settings
  const names = [server.public_url, ...issuers.map(({ issuer }) => issuer)]
  return [
    ...email_domains.flatMap((domain, index) =>
      DOMAIN.test(domain) && normalizeDomain(domain) !== ''
        ? []
        : [{ key: `email_domains.${index}`, message: 'must be a domain such as example.com, without @' }]
    ),
    ...issuers.flatMap(({ issuer }, index) => {
      const key = `issuers.${index}.issuer`
      if (!isHttpUrl(issuer)) return [{ key, message: HTTP_URL_MESSAGE }]
      return names.indexOf(issuer) <= index
        ? [{ key, message: 'must be neither another issuer of the list nor server.public_url' }]
        : []
    }),
    ...adminProblems(settings, shop.name)
  ]
}

function adminProblems(
  { admin_email: email, admin_password: password, password_length_min: lengthMin }: AuthSettings,
  shopName: string
): SettingProblem[] {
  if (email === '' && password === '') return []
  if (email === '') return [{ key: 'admin_email', message: 'must be set together with auth.admin_password' }]
  if (password === '')
    return [{ key: 'admin_password', message: 'must be set together with auth.admin_email' }]
  if (parseEmail(email) === undefined)
    return [{ key: 'admin_email', message: 'must be an e-mail address such as admin@example.com' }]
  return createPasswordStrengthCheck({ lengthMin, shopName })
    .faults(password, email)
    .map(({ message }) => ({ key: 'admin_password', message }))
}
