import type { DomainError } from '../../../kernel/errors.ts'
import type { FieldFault } from '../../../kernel/faults.ts'
import {
  FORBIDDEN_EMAIL_DOMAIN_FAULT,
  INVALID_INVITATION_FAULT,
  invitationRequiredError,
  registrationClosedError
} from '../errors.ts'
import { type EmailDomainRules, findEmailDomainError, isEmailDomainAllowed } from '../users/email-rules.ts'

export type RegistrationRules = EmailDomainRules & {
  readonly registration: 'open' | 'invite' | 'closed'
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
    const domain = isEmailDomainAllowed(rules, applicant.email) ? [] : [FORBIDDEN_EMAIL_DOMAIN_FAULT]
    return invitationRequiredError({ details: { errors: [INVALID_INVITATION_FAULT, ...domain, ...others] } })
  }
  return findEmailDomainError(rules, applicant.email, others)
}
