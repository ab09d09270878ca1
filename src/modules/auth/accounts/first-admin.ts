import type { Config } from '../../../config.ts'
import { DomainError, OperatorError } from '../../../kernel/errors.ts'
import { emailTaken } from '../errors.ts'
import { readablePassword } from '../passwords/random-secrets.ts'
import type { AuthSettings } from '../settings.ts'
import type { AccountService } from './service.ts'

const DEVELOPMENT_EMAIL = 'admin@example.com'

/** The administrator that a shop without one gets. */
export function createFirstAdmins(
  accounts: AccountService,
  { admin_email: email, admin_password: password }: AuthSettings,
  environment: Config['environment']
) {
  return {
    /** Makes the one that the configuration names, where there is no administrator. @throws OperatorError */
    async createConfigured(): Promise<void> {
      if (email === '') return
      try {
        await accounts.createFirstAdmin({ email, password })
      } catch (cause) {
        if (!(cause instanceof DomainError)) throw cause
        throw new OperatorError(
          `The administrator of auth.admin_email and auth.admin_password cannot be made: ${cause.message}`
        )
      }
    },

    /** In development, makes one with a random password. `null` when nothing was made. */
    async createGenerated(): Promise<{ email: string; password: string } | null> {
      if (environment !== 'development') return null
      const generated = { email: DEVELOPMENT_EMAIL, password: readablePassword() }
      try {
        return (await accounts.createFirstAdmin(generated)) ? generated : null
      } catch (error) {
        // A customer has registered with the example's address: that is no reason not to start.
        if (error instanceof DomainError && error.code === emailTaken.code) return null
        throw error
      }
    }
  }
}
