import { legacyEmailKey, normalizeEmail } from '../../../kernel/email.ts'
import { found } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import { type IdempotentWrite, newWrite } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Queryable, Transaction } from '../../../platform/postgres/database.ts'
import { deleteApiKeysOfUser } from '../api-keys/repository.ts'
import type { LoginChallenges } from '../challenges/service.ts'
import {
  emailNotVerifiedError,
  INVALID_LOCALE_FAULT,
  invalidAccessTokenError,
  invalidCredentialsError,
  invitationRequiredError
} from '../errors.ts'
import { passwordChangedEvent, userRegisteredEvent } from '../events.ts'
import * as invitations from '../invitations/repository.ts'
import { deleteOneTimeTokensAfterPasswordChange } from '../one-time-tokens/repository.ts'
import type { RequireStrongPassword } from '../passwords/policy.ts'
import { hashSecret } from '../passwords/random-secrets.ts'
import type { PasswordCheckingService } from '../passwords/service.ts'
import { parseLocale, requireValidLocale } from '../profiles/rules.ts'
import type { SecondFactorService } from '../second-factors/service.ts'
import { type SessionOrigin, storedUserAgentOf } from '../sessions/origin.ts'
import type { SessionService } from '../sessions/service.ts'
import type { AuthSettings } from '../settings.ts'
import { requireValidEmail } from '../users/email-rules.ts'
import type { UserRow } from '../users/repository.ts'
import * as repository from '../users/repository.ts'
import type { ChangePasswordRequest, LoginRequest, RegisterRequest, UserRole } from '../users/schema.ts'
import type { EmailVerificationService } from '../verification/service.ts'
import type { AccountAdministration } from './administration.ts'
import { findRegistrationError } from './registration.ts'

export type AccountDeps = {
  db: Database
  emit: Emit
  passwords: PasswordCheckingService
  requirePassword: RequireStrongPassword
  sessions: SessionService
  verification: EmailVerificationService
  administration: AccountAdministration
  challenges: Pick<LoginChallenges, 'create'>
  factors: Pick<SecondFactorService, 'reset'>
  settings: AuthSettings
}
export type NewUserAccount = {
  email: string
  password: string
  name?: string | undefined
  locale?: string | undefined
  role: UserRole
}
/** The caller: user and session from the access token. */
type Caller = { userId: string; role: UserRole; sessionId: string | null }

type NewUser = {
  id: string
  email: string
  name: string | null
  locale: string | null
  role: UserRole
  passwordHash: string
}

export function createAccountService(deps: AccountDeps) {
  const {
    db,
    emit,
    passwords,
    requirePassword,
    sessions,
    verification,
    administration,
    challenges,
    factors,
    settings
  } = deps

  /**
   * Checks a registration before hashing and writing. Throws when registration is not allowed or the password is too weak.
   * The error lists the faults of all fields.
   */
  async function checkRegistration(
    { email: given, password, locale, invitation }: RegisterRequest,
    { id }: IdempotentWrite
  ): Promise<void> {
    const localeFaults =
      locale === undefined || parseLocale(locale) !== undefined ? [] : [INVALID_LOCALE_FAULT]
    const others = () => [...requirePassword.faults(password, given), ...localeFaults]
    const email = requireValidEmail(given, others)
    const isInvited =
      settings.registration === 'invite' &&
      invitation !== undefined &&
      (await db.first(invitations.findUsableRegistrationInvitation, {
        codeHash: hashSecret(invitation),
        userId: id
      })) !== undefined
    const refusal = findRegistrationError(settings, { email, isInvited }, others())
    if (refusal !== undefined) throw refusal
    requirePassword(password, email, { others: localeFaults })
    if (locale !== undefined) requireValidLocale(locale)
  }

  /**
   * Creates an account and opens its first session. A retry of a successful request logs in.
   * @throws `AUTH_EMAIL_TAKEN`, and `AUTH_INVITATION_REQUIRED` when another registration used the invitation first.
   */
  async function register(body: RegisterRequest, origin: SessionOrigin, write: IdempotentWrite) {
    const user = await newUser({ ...body, role: 'customer' }, write)
    const registered = await write.once(db, async tx => {
      const row = await insert(tx, user)
      if (settings.registration === 'invite') await useInvitation(tx, body.invitation, user.id)
      await verification.requestFirst(tx, write.idOf('verification'), user)
      return canLogIn(row)
        ? signIn(tx, row, user.passwordHash, origin)
        : { user: repository.selectPublicUserFields(row) }
    })
    if (registered === undefined) return resumeRegistration(body, origin, user.id)
    await passwords.remember(user.id, origin.network)
    return registered
  }

  async function resumeRegistration(body: RegisterRequest, origin: SessionOrigin, id: string) {
    const row = found(await db.first(repository.findUser, { id }), invalidCredentialsError)
    return canLogIn(row) ? logIn(body, origin) : { user: repository.selectPublicUserFields(row) }
  }

  /** Administrators may always log in, so that a shop cannot lock itself out. */
  const canLogIn = ({ role, email_verified }: UserRow): boolean =>
    !settings.require_verified_email || email_verified || role === 'admin'

  async function useInvitation(tx: Transaction, code: string | undefined, userId: string): Promise<void> {
    const used =
      code !== undefined &&
      (await tx.run(invitations.markRegistrationInvitationUsed, { codeHash: hashSecret(code), userId }))
    if (used !== 1) throw invitationRequiredError()
  }

  /**
   * @throws `AUTH_INVALID_CREDENTIALS`, `AUTH_TOO_MANY_FAILURES`, `AUTH_BUSY`, `AUTH_EMAIL_NOT_VERIFIED`, and
   * `AUTH_SECOND_FACTOR_REQUIRED` with a challenge.
   */
  async function logIn({ email, password }: LoginRequest, origin: SessionOrigin) {
    const { network, withoutSlot } = origin
    const attempt = { account: normalizeEmail(email), network, withoutSlot }
    const user = await passwords.prove(attempt, password, () => findLogin(email))
    if (!canLogIn(user)) {
      await db.transaction(tx => verification.requestFirst(tx, newId(), user))
      throw emailNotVerifiedError()
    }
    const passwordHash = user.password_hash ?? ''
    if (user.has_second_factor) throw await challenges.create(user, passwordHash)
    return signIn(db, user, passwordHash, origin)
  }

  const findLogin = (email: string) =>
    db.first(repository.findUserWithPasswordByEmail, {
      email: normalizeEmail(email),
      folded: legacyEmailKey(email)
    })

  async function signIn(tx: Queryable, row: UserRow, passwordHash: string, origin: SessionOrigin) {
    const user = repository.selectPublicUserFields(row)
    const owner = { ...user, passwordHash, hasSecondFactor: false }
    const tokens = await sessions.open(tx, owner, storedUserAgentOf(origin))
    if (tokens === undefined) throw invalidCredentialsError()
    return { user, ...tokens }
  }

  /** Changes the password, revokes API keys and ends all other sessions. @throws as `logIn`, and `AUTH_PASSWORD_TOO_WEAK`. */
  async function changePassword(
    { userId: id, sessionId }: Caller,
    body: ChangePasswordRequest,
    write: IdempotentWrite
  ) {
    // A retry returns early, because the check of the current password would fail.
    if (write.alreadyApplied) return
    const user = found(await db.first(repository.findUser, { id }), invalidAccessTokenError)
    // The strength of the new password is checked first, because hashing is expensive.
    requirePassword(body.new_password, user.email ?? '', { path: 'body/new_password' })
    const { withoutSlot } = write
    const { password_hash: oldHash } = await passwords.verifyOwn(user, body.current_password, {
      path: 'body/current_password',
      withoutSlot
    })
    const newHash = await passwords.hash(body.new_password, withoutSlot)
    const hashes = { newHash, oldHash: oldHash ?? '' }
    await write.once(db, async tx => {
      if ((await tx.run(repository.updatePasswordHash, { id, ...hashes })) !== 1)
        throw invalidCredentialsError()
      await tx.run(deleteOneTimeTokensAfterPasswordChange, { userId: id })
      if (body.keep_api_keys !== true) await tx.run(deleteApiKeysOfUser, { userId: id })
      await sessions.endAll(tx, id, sessionId)
      emit(tx, passwordChangedEvent, id, { user_id: id })
    })
  }

  /** @throws `AUTH_EMAIL_INVALID`, `AUTH_PASSWORD_TOO_WEAK`, `AUTH_EMAIL_TAKEN`. */
  async function createUser(account: NewUserAccount): Promise<UserRow> {
    const user = await newUser(account, newWrite())
    return repository.selectPublicUserFields(await db.transaction(tx => insert(tx, user)))
  }

  /** Creates the account only if there is no administrator yet, also when several processes try simultaneously. */
  async function createFirstAdmin(account: Omit<NewUserAccount, 'role'>): Promise<boolean> {
    if (await hasAdmin(db)) return false
    const user = await newUser({ ...account, role: 'admin' }, newWrite())
    return db.transaction(async tx => {
      await tx.run(repository.lockAdminChanges)
      if (await hasAdmin(tx)) return false
      await insert(tx, user)
      return true
    })
  }

  /** Disables or enables an account. Returns false when it does not exist. @throws `AUTH_LAST_ADMIN`. */
  const setDisabled = (email: string, disabled: boolean): Promise<boolean> =>
    changeUser(email, (tx, id) => administration.disable(tx, id, disabled))

  /**
   * Changes the role. Sessions continue with the new permissions. Returns false when the account does not exist.
   * @throws `AUTH_LAST_ADMIN`.
   */
  const setRole = (
    email: string,
    role: UserRole,
    scopes: readonly string[] | null = null
  ): Promise<boolean> => changeUser(email, (tx, id) => administration.grant(tx, id, role, scopes))

  /** Returns false when the account does not exist. @throws `AUTH_SECOND_FACTOR_NOT_ENROLLED`. */
  async function resetSecondFactor(email: string): Promise<boolean> {
    const user = await findLogin(email)
    if (user !== undefined) await factors.reset(user.id)
    return user !== undefined
  }

  async function changeUser(email: string, change: (tx: Transaction, id: string) => Promise<void>) {
    const user = await findLogin(email)
    if (user !== undefined) await db.transaction(tx => change(tx, user.id))
    return user !== undefined
  }

  /** @throws `AUTH_EMAIL_TAKEN`. */
  async function insert(tx: Transaction, user: NewUser): Promise<UserRow> {
    const row = await tx.first(repository.insertUser, user)
    if (row === undefined) throw new Error('the insert returned no row')
    emit(tx, userRegisteredEvent, row.id, { user_id: row.id, role: row.role })
    return row
  }

  async function newUser(
    account: NewUserAccount,
    { id, withoutSlot }: Pick<IdempotentWrite, 'id' | 'withoutSlot'>
  ): Promise<NewUser> {
    const email = requireValidEmail(account.email)
    requirePassword(account.password, email)
    const passwordHash = await passwords.hash(account.password, withoutSlot)
    const { name = null, locale, role } = account
    return {
      id,
      email,
      name,
      locale: locale === undefined ? null : requireValidLocale(locale),
      role,
      passwordHash
    }
  }

  return {
    checkRegistration,
    register,
    logIn,
    changePassword,
    createUser,
    createFirstAdmin,
    setDisabled,
    setRole,
    resetSecondFactor,
    hasAdmin: () => hasAdmin(db)
  }
}
export type AccountService = ReturnType<typeof createAccountService>

const hasAdmin = async (from: Queryable): Promise<boolean> =>
  (await from.first(repository.existsActiveAdmin))?.found === true
