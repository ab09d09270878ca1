import { domainOf, normaliseDomain } from '../../../kernel/email.ts'
import type { DomainError } from '../../../kernel/errors.ts'
import { emailDomainNotAllowed, invitationRequired, registrationClosed } from '../errors.ts'

export type RegistrationRules = {
  readonly registration: 'open' | 'invite' | 'closed'
  /** The only domains that may register; empty: any. */
  readonly email_domains: readonly string[]
}

/** Why somebody with this (normalised) address may not register; `undefined` when they may. */
export function registrationRefusal(
  rules: RegistrationRules,
  applicant: { email: string; isInvited: boolean }
): DomainError | undefined {
  if (rules.registration === 'closed') return registrationClosed()
  if (rules.registration === 'invite' && !applicant.isInvited) return invitationRequired()
  const domain = domainOf(applicant.email)
  const isAllowed =
    rules.email_domains.length === 0 || rules.email_domains.some(each => normaliseDomain(each) === domain)
  return isAllowed ? undefined : emailDomainNotAllowed()
}
