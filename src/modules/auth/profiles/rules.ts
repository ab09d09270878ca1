import { normalizePhone } from '../../../kernel/address.ts'
import { localeInvalidError, phoneInvalidError } from '../errors.ts'

/** Returns the number in E.164. @throws `AUTH_PHONE_INVALID`. */
export function requireValidPhone(given: string): string {
  const phone = normalizePhone(given)
  if (phone === null) throw phoneInvalidError()
  return phone
}

/** Returns the canonical BCP 47 tag, such as `sv-SE`; `undefined` when it is not a language. */
export function parseLocale(given: string): string | undefined {
  try {
    return new Intl.Locale(given).baseName
  } catch {
    return undefined
  }
}

/** Returns the canonical BCP 47 tag. @throws `AUTH_LOCALE_INVALID`. */
export function requireValidLocale(given: string): string {
  const locale = parseLocale(given)
  if (locale === undefined) throw localeInvalidError()
  return locale
}
