import { DomainError, OperatorError } from '../../../kernel/errors.ts'
import type { Config } from '../../../platform/core-settings.ts'
import { emailTakenError } from '../errors.ts'
import { generateReadablePassword } from '../passwords/random-secrets.ts'
import type { AuthSettings } from '../settings.ts'
import type { AccountService } from './service.ts'

const DEVELOPMENT_EMAIL = 'admin@example.com'

/** Creates the first administrator of a shop. */
export function createFirstAdminService(
  accounts: AccountService,
  { admin_email: email, admin_password: password }: AuthSettings,
  environment: Config['environment']
) {
  return {
    /** Creates the configured administrator if there is none. @throws OperatorError */
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

    /** In development, creates an administrator with a random password. Returns null when none was created. */
    async createGenerated(): Promise<{ email: string; password: string } | null> {
      if (environment !== 'development') return null
      const generated = { email: DEVELOPMENT_EMAIL, password: generateReadablePassword() }
      try {
        return (await accounts.createFirstAdmin(generated)) ? generated : null
      } catch (error) {
        // A customer has registered with the default address, so no administrator is created and the start
        // continues.
        if (error instanceof DomainError && error.code === emailTakenError.code) return null
        throw error
      }
    }
  }
}
