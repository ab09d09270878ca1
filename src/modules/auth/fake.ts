import { newId } from '../../kernel/ids.ts'
import type { PersonalDataHandler } from '../../platform/personal-data.ts'
import { invalidAccessTokenError, userNotFoundError } from './errors.ts'
import type { AuthApi, OneTimeToken, UserContact } from './index.ts'

const TOKEN = /^(?:(customer|admin)(?:-|$))?([0-9a-f-]{36})?$/
const DEFAULT_USER = newId()

/**
 * Creates a user for tests with a token that `fakeAuth` accepts.
 * @example
 * const ada = customer(customerId)
 * assert.equal(ada.token, `customer-${customerId}`)
 */
export const customer = (id = newId()) => ({ id, token: `customer-${id}` })
/**
 * Creates an administrator for tests with a token that `fakeAuth` accepts.
 * @example
 * const { role } = await fakeAuth().authenticate(admin().token)
 * assert.equal(role, 'admin')
 */
export const admin = (id = newId()) => ({ id, token: `admin-${id}` })

type PersonalDataOfModules = () => ReadonlyMap<string, PersonalDataHandler>

/** The API of auth, with functions that set its data. */
export type FakeAuth = AuthApi & {
  /** Sets the modules whose personal data this fake erases and exports. */
  setHouse(house: { personalData: PersonalDataOfModules }): void
  addContact(contact: Pick<UserContact, 'id' | 'email'> & Partial<UserContact>): void
  /** Sets the one-time token that the fake returns. `undefined` removes it. */
  setToken(tokenId: string, token: OneTimeToken | undefined): void
  /** Creates a new one-time token. */
  newToken(email: string, purpose?: OneTimeToken['purpose']): OneTimeToken
}

const EMPTY_CONTACT = { name: null, locale: null, emailVerified: false, formerEmail: null }

/**
 * Authentication without accounts, for tests of other modules. A token is a role, an id, or both: `admin`,
 * `customer-<id>`. An id alone is a customer. Tests set its contacts and one-time tokens.
 * @example
 * const auth = fakeAuth()
 * assert.equal((await auth.authenticate(customer(customerId).token)).userId, customerId)
 */
export function fakeAuth(): FakeAuth {
  const known = new Map<string, UserContact>()
  let personalData: PersonalDataOfModules = () => new Map()
  const tokens = new Map<string, OneTimeToken>()
  const none = () => Promise.reject(new Error('fakeAuth has no accounts'))
  return {
    authenticate: async token => {
      const found = token === '' ? null : TOKEN.exec(token)
      if (found === null) throw invalidAccessTokenError()
      const [, role, userId = DEFAULT_USER] = found
      const expiresAt = Date.now() / 1_000 + 3_600
      return {
        userId,
        role: role === 'admin' ? 'admin' : 'customer',
        scopes: null,
        sessionId: null,
        // Every login of the fake counts as recent, however long the test takes.
        authenticatedAt: expiresAt + 86_400,
        expiresAt
      }
    },
    revocations: { subscribe: () => {}, isLive: () => true },
    contacts: async ids => [...new Set(ids)].flatMap(id => known.get(id) ?? []),
    eraseUser: async (tx, id) => {
      if (!known.has(id)) throw userNotFoundError()
      for (const each of personalData().values()) await each.erase(tx, id)
      known.delete(id)
    },
    exportUser: async id => {
      const parts = [...personalData()].map(async ([name, each]) => [name, await each.export(id)] as const)
      return { user_id: id, exported_at: new Date(), parts: Object.fromEntries(await Promise.all(parts)) }
    },
    setHouse: house => {
      personalData = house.personalData
    },
    oneTimeToken: async id => tokens.get(id),
    addContact: contact => {
      known.set(contact.id, { ...EMPTY_CONTACT, ...contact })
    },
    setToken: (id, token) => {
      if (token === undefined) tokens.delete(id)
      else tokens.set(id, token)
    },
    newToken: (email, purpose = 'verify_email') => ({
      token: `token-${newId()}`,
      email,
      purpose,
      expiresAt: new Date(Date.now() + 3_600_000)
    }),
    createUser: none,
    setDisabled: none,
    setRole: none,
    resetSecondFactor: none,
    listUsers: none,
    user: none,
    registered: async () => [],
    setDisabledById: none,
    setRoleById: none,
    updateUserMetadata: none,
    sessionsOf: none,
    endSession: none,
    endSessions: none,
    hasAdmin: async () => true,
    createFirstAdmin: async () => null
  }
}
