import { readPhone } from '../../../kernel/address.ts'
import { localeInvalid, phoneInvalid } from '../errors.ts'

/** As E.164. @throws `AUTH_PHONE_INVALID`. */
export function phoneOf(given: string): string {
  const phone = readPhone(given)
  if (phone === null) throw phoneInvalid()
  return phone
}

/** As BCP 47 writes it, such as `sv-SE`. @throws `AUTH_LOCALE_INVALID`. */
export function localeOf(given: string): string {
  try {
    const locale = new Intl.Locale(given)
    return locale.baseName
  } catch {
    throw localeInvalid()
  }
}
