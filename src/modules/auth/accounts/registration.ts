import { domainOf, normaliseDomain, parseEmail } from '../../../kernel/email.ts'
import type { DomainError } from '../../../kernel/errors.ts'
import type { Fault } from '../../../kernel/faults.ts'
import {
  EMAIL_FAULT,
  emailDomainNotAllowed,
  emailInvalid,
  invitationRequired,
  registrationClosed
} from '../errors.ts'

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
  return domainRefusal(rules, applicant.email)
}

/** Why nobody may have this (normalised) address here; `undefined` when they may. */
export function domainRefusal(
  { email_domains: domains }: Pick<RegistrationRules, 'email_domains'>,
  email: string
): DomainError | undefined {
  const domain = domainOf(email)
  const isAllowed = domains.length === 0 || domains.some(each => normaliseDomain(each) === domain)
  return isAllowed ? undefined : emailDomainNotAllowed()
}

/** The address as it is stored. @throws `AUTH_EMAIL_INVALID`, with `others`: what is wrong with other fields. */
export function emailOf(given: string, others: () => readonly Fault[] = () => []): string {
  const email = parseEmail(given)
  if (email === undefined) throw emailInvalid({ details: { errors: [EMAIL_FAULT, ...others()] } })
  return email
}
