import { emailDomain, normalizeDomain, parseEmail } from '../../../kernel/email.ts'
import type { DomainError } from '../../../kernel/errors.ts'
import type { FieldFault } from '../../../kernel/faults.ts'
import {
  emailDomainNotAllowedError,
  emailInvalidError,
  FORBIDDEN_EMAIL_DOMAIN_FAULT,
  INVALID_EMAIL_FAULT,
  INVALID_INVITATION_FAULT,
  invitationRequiredError,
  registrationClosedError
} from '../errors.ts'

export type RegistrationRules = {
  readonly registration: 'open' | 'invite' | 'closed'
  /** Domains that may register; empty: all. */
  readonly email_domains: readonly string[]
}

/**
 * Returns the error when an applicant with this normalized address may not register, else `undefined`. The error includes
 * `others`, the faults of other fields.
 */
export function findRegistrationError(
  rules: RegistrationRules,
  applicant: { email: string; isInvited: boolean },
  others: readonly FieldFault[] = []
): DomainError | undefined {
  if (rules.registration === 'closed') return registrationClosedError()
  if (rules.registration === 'invite' && !applicant.isInvited) {
    const domain = isDomainAllowed(rules, applicant.email) ? [] : [FORBIDDEN_EMAIL_DOMAIN_FAULT]
    return invitationRequiredError({ details: { errors: [INVALID_INVITATION_FAULT, ...domain, ...others] } })
  }
  return findEmailDomainError(rules, applicant.email, others)
}

/** Returns the error when the domain of this normalized address is not allowed, else `undefined`. */
export const findEmailDomainError = (
  rules: Pick<RegistrationRules, 'email_domains'>,
  email: string,
  others: readonly FieldFault[] = []
): DomainError | undefined =>
  isDomainAllowed(rules, email)
    ? undefined
    : emailDomainNotAllowedError({ details: { errors: [FORBIDDEN_EMAIL_DOMAIN_FAULT, ...others] } })

function isDomainAllowed(
  { email_domains: domains }: Pick<RegistrationRules, 'email_domains'>,
  email: string
) {
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
