import type { Config } from '../../config.ts'
import { newId } from '../../kernel/ids.ts'
import type { Database, Queryable } from '../../platform/postgres.ts'
import { violates } from '../../platform/postgres-errors.ts'
import { foldEmail, parseEmail } from './email.ts'
import {
  emailInvalid,
  emailTaken,
  invalidCredentials,
  invalidToken,
  invitationRequired,
  passwordTooWeak
} from './errors.ts'
import * as invitations from './invitations/repository.ts'
import { passwordWeakness } from './passwords/policy.ts'
import type { Passwords } from './passwords/service.ts'
import { registrationRefusal } from './registration.ts'
import * as repository from './repository.ts'
import type { LoginBody, PasswordBody, RegisterBody, Role, User } from './schema.ts'
import { hashSecret } from './secrets.ts'
import * as sessionRows from './sessions/repository.ts'
import type { SessionService } from './sessions/service.ts'

export type AccountDeps = {
  db: Database
  passwords: Passwords
  sessions: SessionService
  config: Pick<Config, 'auth' | 'shop'>
}
export type Account = { email: string; password: string; name?: string | undefined; role: Role }
/** The caller, as their token says. */
type Caller = { userId: string; role: Role; sessionId: string | null }

const USER_AGENT_LENGTH_MAX = 200

export function createAccountService({ db, passwords, sessions, config }: AccountDeps) {
  const rules = config.auth

  /**
   * The condition in front of registration: nothing is hashed or written for somebody who may not register, or whose
   * password is too weak.
   */
  async function checkRegistration({ email: given, password, invitation }: RegisterBody): Promise<void> {
    const email = emailOf(given)
    const isInvited =
      rules.registration === 'invite' &&
      invitation !== undefined &&
      (await invitations.isOpen(db, hashSecret(invitation)))
    const refusal = registrationRefusal(rules, { email, isInvited })
    if (refusal !== undefined) throw refusal
    checkPassword(password, email)
  }

  /** @throws `AUTH_EMAIL_TAKEN`, and `AUTH_INVITATION_REQUIRED` when somebody else was faster with the invitation. */
  async function register(body: RegisterBody, userAgent: string | undefined) {
    const user = await newUser({ ...body, role: 'customer' })
    return orEmailTaken(
      db.transaction(async tx => {
        const row = await repository.insertUser(tx, user)
        if (rules.registration === 'invite') await useInvitation(tx, body.invitation, user.id)
        return signIn(tx, row, user.passwordHash, userAgent)
      })
    )
  }

  async function useInvitation(
    tx: Parameters<typeof invitations.use>[0],
    code: string | undefined,
    userId: string
  ): Promise<void> {
    const isUsed = code !== undefined && (await invitations.use(tx, hashSecret(code), userId))
    if (!isUsed) throw invitationRequired()
  }

  /** @throws `AUTH_INVALID_CREDENTIALS`, `AUTH_TOO_MANY_FAILURES`, `AUTH_BUSY`. */
  async function logIn({ email: given, password }: LoginBody, userAgent: string | undefined) {
    const email = foldEmail(given)
    const user = await passwords.prove(`login:${email}`, password, () => repository.findLogin(db, email))
    return signIn(db, user, user.password_hash ?? '', userAgent)
  }

  async function signIn(
    tx: Queryable,
    row: repository.UserRow,
    passwordHash: string,
    userAgent: string | undefined
  ) {
    const user = presentUser(row)
    const shownAgent = userAgent?.slice(0, USER_AGENT_LENGTH_MAX) ?? null
    const tokens = await sessions.open(tx, { id: user.id, role: user.role, passwordHash }, shownAgent)
    if (tokens === undefined) throw invalidCredentials()
    return { user, ...tokens }
  }

  /** The caller's own account. The role is the one of their token: other issuers grant theirs there. */
  async function me({ userId, role }: Caller): Promise<User> {
    return { ...presentUser(orGone(await repository.findUser(db, userId))), role }
  }

  async function rename({ userId, role }: Caller, name: string | null): Promise<User> {
    return { ...presentUser(orGone(await repository.updateName(db, userId, name))), role }
  }

  /** Changes the password and ends every other session. @throws as `logIn`, and `AUTH_PASSWORD_TOO_WEAK`. */
  async function changePassword({ userId, sessionId }: Caller, body: PasswordBody): Promise<void> {
    // Counted apart from log-ins: a stranger who fails there cannot keep the owner from changing the password here.
    const user = await passwords.prove(`password:${userId}`, body.current_password, () =>
      repository.findUser(db, userId)
    )
    checkPassword(body.new_password, user.email ?? '')
    const hashes = { newHash: await passwords.hash(body.new_password), oldHash: user.password_hash ?? '' }
    await db.transaction(async tx => {
      if (!(await repository.updatePassword(tx, userId, hashes))) throw invalidCredentials()
      await sessionRows.endOthers(tx, userId, sessionId)
    })
  }

  /** @throws `AUTH_EMAIL_INVALID`, `AUTH_PASSWORD_TOO_WEAK`, `AUTH_EMAIL_TAKEN`. */
  async function createUser(account: Account): Promise<User> {
    const user = await newUser(account)
    return presentUser(await orEmailTaken(repository.insertUser(db, user)))
  }

  /** Makes the account only if there is no administrator yet, however many processes try at once. */
  async function createFirstAdmin(account: Omit<Account, 'role'>): Promise<boolean> {
    if (await repository.hasAdmin(db)) return false
    const user = await newUser({ ...account, role: 'admin' })
    return orEmailTaken(
      db.transaction(async tx => {
        await repository.lockFirstAdmin(tx)
        if (await repository.hasAdmin(tx)) return false
        await repository.insertUser(tx, user)
        return true
      })
    )
  }

  async function newUser(account: Account): Promise<repository.NewUser> {
    const email = emailOf(account.email)
    checkPassword(account.password, email)
    const passwordHash = await passwords.hash(account.password)
    return { id: newId(), email, name: account.name ?? null, role: account.role, passwordHash }
  }

  function checkPassword(password: string, email: string): void {
    const lengthMin = rules.password_length_min
    const reason = passwordWeakness(password, { lengthMin, email, shopName: config.shop.name })
    if (reason !== undefined) throw passwordTooWeak({ details: { reason, length_min: lengthMin } })
  }

  return {
    checkRegistration,
    register,
    logIn,
    me,
    rename,
    changePassword,
    createUser,
    createFirstAdmin,
    hasAdmin: () => repository.hasAdmin(db)
  }
}
export type AccountService = ReturnType<typeof createAccountService>

function emailOf(given: string): string {
  const email = parseEmail(given)
  if (email === undefined) throw emailInvalid()
  return email
}

async function orEmailTaken<T>(insert: Promise<T>): Promise<T> {
  try {
    return await insert
  } catch (cause) {
    throw violates(cause, 'users_email_unique') ? emailTaken({ cause }) : cause
  }
}

/** A token can outlive its user by moments; then it is no token any more. */
function orGone(row: repository.UserRow | undefined): repository.UserRow {
  if (row === undefined) throw invalidToken()
  return row
}

const presentUser = (row: repository.UserRow): User => ({
  id: row.id,
  email: row.email,
  name: row.name,
  role: row.role as Role,
  created_at: row.created_at.toISOString()
})
