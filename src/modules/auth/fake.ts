import { newId } from '../../kernel/ids.ts'
import type { People } from '../../platform/people.ts'
import { invalidToken, userNotFound } from './errors.ts'
import type { AuthApi, Contact, OneTimeToken } from './index.ts'

const TOKEN = /^(?:(customer|admin)(?:-|$))?([0-9a-f-]{36})?$/
const SOMEBODY = newId()

/** Somebody for tests, with a token that `fakeAuth` takes. */
export const customer = (id = newId()) => ({ id, token: `customer-${id}` })
export const admin = (id = newId()) => ({ id, token: `admin-${id}` })

type KeptOfPeople = () => ReadonlyMap<string, People>

/** The API, and what a test tells it. */
export type FakeAuth = AuthApi & {
  /** In whose modules it erases and tells what is kept of people. */
  inhabit(house: { people: KeptOfPeople }): void
  know(contact: Pick<Contact, 'id' | 'email'> & Partial<Contact>): void
  /** A token that is good, or `undefined` once it is not any more. */
  hold(tokenId: string, token: OneTimeToken | undefined): void
  /** One that nobody had before. */
  newToken(email: string, purpose?: OneTimeToken['purpose']): OneTimeToken
}

const NOTHING_KNOWN = { name: null, locale: null, emailVerified: false, formerEmail: null }

/**
 * Authentication without accounts, for tests of those who ask who somebody is. A token is a role, an id, or both:
 * `admin`, `customer-<id>`. An id alone is a customer. It knows the contacts and one-time tokens that it is told of.
 */
export function fakeAuth(): FakeAuth {
  const known = new Map<string, Contact>()
  let people: KeptOfPeople = () => new Map()
  const tokens = new Map<string, OneTimeToken>()
  const none = () => Promise.reject(new Error('there are no accounts here'))
  return {
    authenticate: async token => {
      const found = token === '' ? null : TOKEN.exec(token)
      if (found === null) throw invalidToken()
      const [, role, userId = SOMEBODY] = found
      const expiresAt = Date.now() / 1_000 + 3_600
      return {
        userId,
        role: role === 'admin' ? 'admin' : 'customer',
        scopes: null,
        sessionId: null,
        // Always recent, however long a test takes.
        authenticatedAt: expiresAt + 86_400,
        expiresAt
      }
    },
    revocations: { subscribe: () => {}, isLive: () => true },
    contacts: async ids => [...new Set(ids)].flatMap(id => known.get(id) ?? []),
    eraseUser: async (tx, id) => {
      if (!known.has(id)) throw userNotFound()
      for (const each of people().values()) await each.erase(tx, id)
      known.delete(id)
    },
    exportUser: async id => {
      const parts = [...people()].map(async ([name, each]) => [name, await each.export(id)] as const)
      return { user_id: id, exported_at: new Date(), parts: Object.fromEntries(await Promise.all(parts)) }
    },
    inhabit: house => {
      people = house.people
    },
    oneTimeToken: async id => tokens.get(id),
    know: contact => {
      known.set(contact.id, { ...NOTHING_KNOWN, ...contact })
    },
    hold: (id, token) => {
      if (token === undefined) tokens.delete(id)
      else tokens.set(id, token)
    },
    newToken: (email, purpose = 'verify_email') => ({
      ...{ token: `token-${newId()}`, email, purpose },
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
    sessionsOf: none,
    endSession: none,
    endSessions: none,
    hasAdmin: async () => true,
    createFirstAdmin: async () => null
  }
}
