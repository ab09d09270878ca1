import { newId } from '../../kernel/ids.ts'
import { invalidToken } from './errors.ts'
import type { AuthApi } from './index.ts'

const TOKEN = /^(?:(customer|admin)(?:-|$))?([0-9a-f-]{36})?$/
const SOMEBODY = newId()

/** Somebody for tests, with a token that `fakeAuth` takes. */
export const customer = (id = newId()) => ({ id, token: `customer-${id}` })
export const admin = (id = newId()) => ({ id, token: `admin-${id}` })

/**
 * Authentication without accounts, for tests of those who ask who somebody is. A token is a role, an id, or both:
 * `admin`, `customer-<id>`. An id alone is a customer.
 */
export function fakeAuth(): AuthApi {
  const none = () => Promise.reject(new Error('there are no accounts here'))
  return {
    authenticate: async token => {
      const found = token === '' ? null : TOKEN.exec(token)
      if (found === null) throw invalidToken()
      const [, role, userId = SOMEBODY] = found
      const expiresAt = Date.now() / 1_000 + 3_600
      return { userId, role: role === 'admin' ? 'admin' : 'customer', sessionId: null, expiresAt }
    },
    revocations: { subscribe: () => {}, isLive: () => true },
    createUser: none,
    setDisabled: none,
    setRole: none,
    hasAdmin: async () => true,
    createFirstAdmin: async () => null
  }
}
