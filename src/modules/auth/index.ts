import type { VerifyBearerToken } from '../../gateway/callers/identity.ts'
import type { Page } from '../../kernel/pages.ts'
import type { PageQuery } from '../../kernel/wire.ts'
import { defineModule } from '../../module.ts'
import type { Transaction } from '../../platform/postgres/database.ts'
import type { RowOf } from '../../platform/postgres/statement.ts'
import {
  type AccountAdministration,
  type AccountListQuery,
  createAccountAdministration,
  type UserWithDisabledAt
} from './accounts/administration.ts'
import { scheduleAuthCleanup } from './accounts/cleanup.ts'
import { createFirstAdminService } from './accounts/first-admin.ts'
import { accountRoutes } from './accounts/routes.ts'
import { createAccountService, type NewUserAccount } from './accounts/service.ts'
import { addressRoutes } from './addresses/routes.ts'
import { createAddressService } from './addresses/service.ts'
import { findApiKeyPermissions } from './api-keys/repository.ts'
import { apiKeyRoutes } from './api-keys/routes.ts'
import { createApiKeyService } from './api-keys/service.ts'
import { loginChallengeRoutes } from './challenges/routes.ts'
import { createLoginChallenges } from './challenges/service.ts'
import { diagnoseAdminSecondFactor, diagnoseAuthSettings } from './diagnosis.ts'
import { accountErasureRoutes } from './erasure/routes.ts'
import type { AccountExportResponse } from './erasure/schema.ts'
import { createAccountErasure, exportPersonalDataOfAuth } from './erasure/service.ts'
import { authEvents, eraseLateUserDataJob } from './events.ts'
import { invitationRoutes } from './invitations/routes.ts'
import { createInvitationService } from './invitations/service.ts'
import { createOneTimeTokenService, type OneTimeToken } from './one-time-tokens/service.ts'
import { passwordResetRoutes } from './password-resets/routes.ts'
import { createPasswordResetService } from './password-resets/service.ts'
import { UNKNOWN_NETWORK_CODE_ATTEMPT_INTERVAL_SECONDS } from './passwords/attempt-rules.ts'
import { argon2idPasswordHashing } from './passwords/hashing.ts'
import { createLoginThrottle } from './passwords/login-throttle.ts'
import { createPasswordStrengthCheck } from './passwords/policy.ts'
import { createPasswordCheckingService } from './passwords/service.ts'
import { profileRoutes } from './profiles/routes.ts'
import { createProfileService } from './profiles/service.ts'
import { secondFactorRoutes } from './second-factors/routes.ts'
import { createSecondFactorService } from './second-factors/service.ts'
import { findLiveSession } from './sessions/repository.ts'
import { createSessionRevocationChannel, type SessionRevocationChannel } from './sessions/revocations.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { createSessionService, type SessionService } from './sessions/service.ts'
import { authSettings, authShortEnvironmentNames } from './settings.ts'
import { createAccessTokenService } from './tokens/access-tokens.ts'
import { createTokenAuthenticator } from './tokens/authenticate.ts'
import { createIssuerVerifiers } from './tokens/issuers.ts'
import { jwksRoutes } from './tokens/routes.ts'
import { createSigningKeyStore, SIGNING_KEY_REFRESH_SECONDS } from './tokens/signing-keys.ts'
import { listUserContacts, type UserRow } from './users/repository.ts'
import type { UserRole } from './users/schema.ts'
import { validateAuthSettings } from './validation.ts'
import { emailVerificationRoutes } from './verification/routes.ts'
import { createEmailVerificationService } from './verification/service.ts'

export {
  apiKeyCreatedEvent,
  emailChangedEvent,
  passwordChangedEvent,
  passwordResetRequestedEvent,
  secondFactorChangedEvent,
  userDeletedEvent,
  userRegisteredEvent,
  verificationRequestedEvent
} from './events.ts'
export type { OneTimeToken } from './one-time-tokens/service.ts'
export { generateReadablePassword } from './passwords/random-secrets.ts'
export { userResource } from './users/schema.ts'

/** How to reach a user. Only users of external issuers may lack an address. */
export type UserContact = {
  id: string
  email: string | null
  name: string | null
  /** Locale of the user, such as `sv-SE`. Null: the user has not set one. */
  locale: string | null
  emailVerified: boolean
  /** The previous address, for 30 days after a change. */
  formerEmail: string | null
}

/** The API of auth for other modules. */
export type AuthApi = {
  authenticate: VerifyBearerToken
  /** Registers callbacks for users whose tokens must be verified again. */
  revocations: Pick<SessionRevocationChannel, 'subscribe' | 'isLive'>
  /** Returns the contacts of users. Unknown ids are left out. */
  contacts(userIds: readonly string[]): Promise<UserContact[]>
  /** Returns the one-time token of an event, to mail it; `undefined` when it was used, replaced, or has expired. */
  oneTimeToken(tokenId: string): Promise<OneTimeToken | undefined>
  /** Deletes an account. @throws `AUTH_USER_NOT_FOUND`, `AUTH_LAST_ADMIN`, and errors of other modules that forbid it. */
  eraseUser(tx: Transaction, userId: string): Promise<void>
  /** Returns all personal data of a user, grouped by module. */
  exportUser(userId: string): Promise<AccountExportResponse>
  /** Disables or enables an account; disabling ends its sessions. Returns false when the account does not exist. */
  setDisabled(email: string, disabled: boolean): Promise<boolean>
  /**
   * Removes a second factor and ends all sessions. Returns false when the account does not exist.
   * @throws `AUTH_SECOND_FACTOR_NOT_ENROLLED`.
   */
  resetSecondFactor(email: string): Promise<boolean>
  /**
   * `scopes`: modules that they may manage; missing or null: all. Returns false when the account does not exist.
   * @throws `AUTH_LAST_ADMIN`.
   */
  setRole(email: string, role: UserRole, scopes?: readonly string[] | null): Promise<boolean>
  /** Lists users, the newest first; with `updated_since` the oldest change first, and `next_since` in the page. */
  listUsers(query: AccountListQuery): Promise<Page<UserWithDisabledAt>>
  /** @throws `AUTH_USER_NOT_FOUND`. */
  user(userId: string): Promise<UserWithDisabledAt>
  /** Counts registered customers per day. Days begin at `starts`, the last ends at `end`; `day` counts from 1. */
  registered(starts: readonly Date[], end: Date): ReturnType<AccountAdministration['registered']>
  /**
   * Disables or enables an account like `setDisabled`, in the caller's transaction. @throws
   * `AUTH_USER_NOT_FOUND`, `AUTH_LAST_ADMIN`.
   */
  setDisabledById(tx: Transaction, userId: string, disabled: boolean): Promise<void>
  /** Changes the metadata of a user. @throws `AUTH_USER_NOT_FOUND`, `METADATA_LIMIT`. */
  updateUserMetadata: AccountAdministration['updateMetadata']
  /**
   * Changes role and scopes like `setRole`, in the caller's transaction. @throws `AUTH_USER_NOT_FOUND`,
   * `AUTH_LAST_ADMIN`.
   */
  setRoleById: AccountAdministration['grant']
  /** Lists the active sessions; none is `current`. */
  sessionsOf(userId: string, query: PageQuery): ReturnType<SessionService['list']>
  /** Ends a session. @throws `AUTH_USER_NOT_FOUND`, `AUTH_SESSION_NOT_FOUND`. */
  endSession(tx: Transaction, userId: string, sessionId: string): Promise<void>
  /** @throws `AUTH_USER_NOT_FOUND`. */
  endSessions(tx: Transaction, userId: string): Promise<void>
  /** Creates an account. @throws `AUTH_EMAIL_INVALID`, `AUTH_PASSWORD_TOO_WEAK`, `AUTH_EMAIL_TAKEN`. */
  createUser(account: NewUserAccount): Promise<UserRow>
  hasAdmin(): Promise<boolean>
  /**
   * In development, creates an administrator if there is none, and returns its random password, which is not stored.
   * `null` when none was created.
   */
  createFirstAdmin(): Promise<{ email: string; password: string } | null>
}

const OWN_ISSUER = 'cartwright'

/** Accounts, sessions and access tokens. Without it only the public tier is accessible. */
export const authModule = defineModule({
  name: 'auth',
  description: 'Accounts, sessions, tokens.',
  basePaths: ['/api/auth'],
  settings: authSettings,
  validate: validateAuthSettings,
  shortNames: authShortEnvironmentNames,
  requires: {},
  uses: {},
  emits: authEvents,
  jobs: [eraseLateUserDataJob],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: true,
  diagnose: diagnoseAuthSettings,
  setup: async (
    { config, db, emit, enqueue, log, secrets, broadcast, timers, http, metrics, house, audit },
    settings
  ) => {
    const stopping = new AbortController()
    const keys = await createSigningKeyStore({ db, secrets, log })
    const accessTokens = createAccessTokenService({
      keys,
      issuer: config.server.public_url === '' ? OWN_ISSUER : config.server.public_url,
      lifetimeSeconds: settings.access_token_seconds,
      findSession: (id, userId) => db.first(findLiveSession, { id, userId }),
      findKey: (id, userId) => db.first(findApiKeyPermissions, { id, userId })
    })
    const { failed_logins_max: failuresMax, password_reset_minutes: resetMinutes } = settings
    const { name: shopName } = config.shop
    const throttle = { db, secrets, failuresMax }
    const passwords = createPasswordCheckingService({
      budgets: createLoginThrottle(throttle),
      hashing: argon2idPasswordHashing,
      hashConcurrency: settings.password_hash_concurrency
    })
    const revocations = createSessionRevocationChannel(broadcast)
    const sessions = createSessionService({ db, secrets, accessTokens, revocations, limits: settings })
    const { require_second_factor: isRequired } = settings
    const factorPlatform = { db, secrets, log, emit, audit }
    const factors = createSecondFactorService({ ...factorPlatform, sessions, shopName, isRequired })
    const budgets = createLoginThrottle({
      ...throttle,
      purpose: 'auth.second_factor',
      trickleSeconds: UNKNOWN_NETWORK_CODE_ATTEMPT_INTERVAL_SECONDS
    })
    const challenges = createLoginChallenges({ db, factors, sessions, budgets })
    const invitations = createInvitationService({ db, secrets })
    const tokens = createOneTimeTokenService({ db, secrets, messagesPerHour: settings.messages_per_hour })
    const verification = createEmailVerificationService({ db, emit, tokens, passwords, settings })
    const requirePassword = createPasswordStrengthCheck({ lengthMin: settings.password_length_min, shopName })
    const administration = createAccountAdministration({ db, sessions })
    const deps = { db, emit, passwords, requirePassword, sessions }
    const resets = createPasswordResetService({ ...deps, tokens, resetMinutes })
    const factorDeps = { challenges, factors }
    const accounts = createAccountService({ ...deps, ...factorDeps, verification, administration, settings })
    const { personalData } = house
    const { requireAnotherAdmin } = administration
    const erasureDeps = { db, emit, enqueue, passwords, sessions }
    const erasure = createAccountErasure({ ...erasureDeps, personalData, requireAnotherAdmin })
    const firstAdmins = createFirstAdminService(accounts, settings, config.environment)
    if (!db.isReadOnly) await firstAdmins.createConfigured()

    timers.every(SIGNING_KEY_REFRESH_SECONDS, 'auth.signing_keys', async () => {
      await keys.refresh()
      return 0
    })
    scheduleAuthCleanup(timers, db, settings)

    const limits = {
      login: { name: 'login', perMinute: settings.login_per_minute },
      register: { name: 'register', perMinute: settings.register_per_minute }
    }
    const issuers = createIssuerVerifiers(settings.issuers, { http, signal: stopping.signal })
    const checks = metrics.counter('token_checks', 'Uncached verifications of access tokens, by result.', {
      result: ['accepted', 'refused']
    })
    const api: AuthApi = {
      authenticate: counted(
        createTokenAuthenticator({ db, accessTokens, issuers, requiresSecondFactor: isRequired }),
        result => checks.add({ result })
      ),
      revocations,
      contacts: async ids => (await db.rows(listUserContacts, { ids })).map(presentContact),
      oneTimeToken: tokens.read,
      eraseUser: erasure.erase,
      exportUser: erasure.export,
      createUser: accounts.createUser,
      setDisabled: accounts.setDisabled,
      setRole: accounts.setRole,
      resetSecondFactor: accounts.resetSecondFactor,
      listUsers: administration.list,
      user: administration.find,
      registered: administration.registered,
      setDisabledById: administration.disable,
      setRoleById: administration.grant,
      updateUserMetadata: administration.updateMetadata,
      sessionsOf: (userId, query) => sessions.list({ userId, sessionId: null }, query),
      endSession: administration.endSession,
      endSessions: administration.endSessions,
      hasAdmin: accounts.hasAdmin,
      createFirstAdmin: firstAdmins.createGenerated
    }
    return {
      api,
      routes: tiers => {
        accountRoutes(tiers, accounts, limits)
        profileRoutes(tiers, createProfileService({ db }))
        addressRoutes(tiers, createAddressService({ db, addressesMax: settings.addresses_max }))
        accountErasureRoutes(tiers, erasure, { name: 'exports', perMinute: settings.exports_per_minute })
        sessionRoutes(tiers, sessions, limits)
        emailVerificationRoutes(tiers, verification, limits)
        passwordResetRoutes(tiers, resets, limits)
        secondFactorRoutes(tiers, factors)
        loginChallengeRoutes(tiers, challenges, limits)
        const keysMax = settings.api_keys_max
        const apiKeys = createApiKeyService({ db, secrets, accessTokens, revocations, emit, keysMax })
        apiKeyRoutes(tiers, apiKeys, limits)
        invitationRoutes(tiers, invitations)
        jwksRoutes(tiers, keys.published)
      },
      diagnoses: diagnoseAdminSecondFactor(db, {
        isRequired,
        isProduction: config.environment === 'production'
      }),
      // The rows of auth are deleted with the account, so there is nothing to erase here.
      personalData: { erase: async () => {}, export: id => exportPersonalDataOfAuth(db, id) },
      jobHandlers: { 'auth.erase_again': ({ payload }) => erasure.eraseAgain(payload.user_id) },
      stop: async () => stopping.abort()
    }
  }
})

const presentContact = ({
  email_verified,
  former_email,
  ...contact
}: RowOf<typeof listUserContacts>): UserContact => ({
  ...contact,
  emailVerified: email_verified,
  formerEmail: former_email
})

const counted =
  (authenticate: VerifyBearerToken, count: (result: 'accepted' | 'refused') => void): VerifyBearerToken =>
  async token => {
    try {
      const identity = await authenticate(token)
      count('accepted')
      return identity
    } catch (error) {
      count('refused')
      throw error
    }
  }
