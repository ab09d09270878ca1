import { readPhone } from '../../../kernel/address.ts'
import { localeInvalid, phoneInvalid } from '../errors.ts'

/** As E.164. @throws `AUTH_PHONE_INVALID`. */
export function phoneOf(given: string): string {
  const phone = readPhone(given)
  if (phone === null) throw phoneInvalid()
  return phone
}

/** As BCP 47 writes it, such as `sv-SE`; `undefined` when it is no language. */
export function readLocale(given: string): string | undefined {
  try {
    return new Intl.Locale(given).baseName
  } catch {
    return undefined
  }
}

/** @throws `AUTH_LOCALE_INVALID`. */
export function localeOf(given: string): string {
  const locale = readLocale(given)
  if (locale === undefined) throw localeInvalid()
  return locale
}
