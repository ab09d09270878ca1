import type { Config } from '../../config.ts'
import type { Authenticate } from '../../gateway/identity.ts'
import { OperatorError } from '../../kernel/errors.ts'
import { defineModule } from '../../module.ts'
import type { Platform } from '../../platform/platform.ts'
import { createFirstAdmins } from './first-admin.ts'
import { createInvitationService } from './invitations/service.ts'
import { argon2id } from './passwords/hashing.ts'
import { createPasswords } from './passwords/service.ts'
import { accountRoutes, invitationRoutes, keyRoutes, sessionRoutes } from './routes.ts'
import type { User } from './schema.ts'
import { type Account, createAccountService } from './service.ts'
import { findLive } from './sessions/repository.ts'
import { createSessionService } from './sessions/service.ts'
import { sweepEvery } from './sweep.ts'
import { createAccessTokens } from './tokens/access-tokens.ts'
import { createAuthenticate } from './tokens/authenticate.ts'
import { createExternalTokens } from './tokens/external-tokens.ts'
import { createIssuerKeys } from './tokens/issuer-keys.ts'
import { createSigningKeys, REFRESH_SECONDS } from './tokens/signing-keys.ts'

export { readablePassword } from './secrets.ts'

/** What other parts of the shop may ask of auth. */
type AuthApi = {
  authenticate: Authenticate
  /** Makes an account. @throws `AUTH_EMAIL_INVALID`, `AUTH_PASSWORD_TOO_WEAK`, `AUTH_EMAIL_TAKEN`. */
  createUser(account: Account): Promise<User>
  hasAdmin(): Promise<boolean>
  /**
   * In development, makes an administrator with a random password if there is none, and tells it this once;
   * `null` when there was nothing to make.
   */
  createFirstAdmin(): Promise<{ email: string; password: string } | null>
}

const OWN_ISSUER = 'cartwright'
const ISSUER_COOLDOWN_MS = 30_000

export const authModule = defineModule({
  name: 'auth',
  basePaths: ['/api/auth'],
  requires: {},
  uses: {},
  migrations: new URL('./migrations/', import.meta.url),
  setup: async ({ config, db, cache, jobs }) => {
    const stopping = new AbortController()
    const keys = await createSigningKeys({ db })
    const accessTokens = createAccessTokens({
      keys,
      issuer: config.server.public_url === '' ? OWN_ISSUER : config.server.public_url,
      lifetimeSeconds: config.auth.access_token_seconds,
      findSession: (id, userId) => findLive(db, id, userId)
    })
    const passwords = createPasswords({
      db,
      hashing: argon2id,
      hashesAtOnce: config.auth.password_hashes_at_once,
      failuresMax: config.auth.failed_logins_max
    })
    const sessions = createSessionService({ db, accessTokens, limits: config.auth })
    const invitations = createInvitationService({ db })
    const accounts = createAccountService({ db, passwords, sessions, config })
    const firstAdmins = createFirstAdmins(accounts, config)
    await firstAdmins.createConfigured()

    jobs.every(REFRESH_SECONDS, 'auth.signing_keys', async () => {
      await keys.refresh()
      return 0
    })
    sweepEvery(jobs, db, config.auth)

    const issuers = externalIssuers(config, cache, accessTokens.issuer, stopping.signal)
    const api: AuthApi = {
      authenticate: createAuthenticate({ db, accessTokens, issuers }),
      createUser: accounts.createUser,
      hasAdmin: accounts.hasAdmin,
      createFirstAdmin: firstAdmins.createGenerated
    }
    return {
      api,
      routes: tiers => {
        accountRoutes(tiers, accounts)
        sessionRoutes(tiers, sessions)
        invitationRoutes(tiers, invitations)
        keyRoutes(tiers, keys.published)
      },
      stop: async () => stopping.abort()
    }
  }
})

/** @throws OperatorError when two issuers, ours among them, could not be told apart. */
function externalIssuers(config: Config, cache: Platform['cache'], ownIssuer: string, signal: AbortSignal) {
  const names = [ownIssuer, ...config.auth.issuers.map(each => each.issuer)]
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) {
    throw new OperatorError(
      `auth.issuers: ${twice} is there twice, or is server.public_url itself; each issuer needs a name of its own.`
    )
  }
  return new Map(
    config.auth.issuers.map(settings => {
      const keyFor = createIssuerKeys({
        issuer: settings.issuer,
        cache,
        cooldownMs: ISSUER_COOLDOWN_MS,
        signal
      })
      return [settings.issuer, createExternalTokens(settings, keyFor)]
    })
  )
}
