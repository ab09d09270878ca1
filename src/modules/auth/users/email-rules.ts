import { emailDomain, normalizeDomain, parseEmail } from '../../../kernel/email.ts'
import type { DomainError } from '../../../kernel/errors.ts'
import type { FieldFault } from '../../../kernel/faults.ts'
import {
  emailDomainNotAllowedError,
  emailInvalidError,
  FORBIDDEN_EMAIL_DOMAIN_FAULT,
  INVALID_EMAIL_FAULT
} from '../errors.ts'

export type EmailDomainRules = {
  /** Domains that may register; empty: all. */
  readonly email_domains: readonly string[]
}

/** Returns the error when the domain of this normalized address is not allowed, else `undefined`. */
export const findEmailDomainError = (
  rules: EmailDomainRules,
  email: string,
  others: readonly FieldFault[] = []
): DomainError | undefined =>
  isEmailDomainAllowed(rules, email)
    ? undefined
    : emailDomainNotAllowedError({ details: { errors: [FORBIDDEN_EMAIL_DOMAIN_FAULT, ...others] } })

/** Returns whether the domain of this normalized address may register. */
export function isEmailDomainAllowed({ email_domains: domains }: EmailDomainRules, email: string): boolean {
  const domain = emailDomain(email)
  return domains.length === 0 || domains.some(each => normalizeDomain(each) === domain)
}

/** Returns the address in its stored form. @throws `AUTH_EMAIL_INVALID`, with `others`, the faults of other fields. */
export function requireValidEmail(given: string, others: () => readonly FieldFault[] = () => []): string {
  const email = parseEmail(given)
  if (email === undefined)
    throw emailInvalidError({ details: { errors: [INVALID_EMAIL_FAULT, ...others()] } })
  return email
}
