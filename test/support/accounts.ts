import type { EventType } from '../../src/kernel/events.ts'
import { defineModule, type Module } from '../../src/module.ts'
import {
  type AuthApi,
  apiKeyCreatedEvent,
  authModule,
  emailChangedEvent,
  passwordChangedEvent,
  passwordResetRequestedEvent,
  secondFactorChangedEvent,
  userDeletedEvent,
  userRegisteredEvent,
  verificationRequestedEvent
} from '../../src/modules/auth/index.ts'
import { openTestShop, type TestShop } from '../../src/testing.ts'
import { createTestDatabase } from './database.ts'
import { isMigratedFor } from './migrated.ts'
import { keepRecent } from './recent-login.ts'
import { SECRET_SETTINGS } from './secrets.ts'

export const PASSWORD = 'nine lives and a piano'
export const NEW_PASSWORD = 'eleven lives and a cello'

const EVENTS: readonly EventType[] = [
  userRegisteredEvent,
  verificationRequestedEvent,
  passwordResetRequestedEvent,
  passwordChangedEvent,
  apiKeyCreatedEvent,
  secondFactorChangedEvent,
  emailChangedEvent,
  userDeletedEvent
]
type Payload = { user_id: string; token_id?: string }
type Heard = { name: string; payload: Payload }

/** Accounts behind the real gateway, and all that is told of them. It has to be closed. */
export async function openAccounts(settings: Record<string, string> = {}, more: readonly Module[] = []) {
  const database = await createTestDatabase()
  const heard: Heard[] = []
  const hear = (name: string) => async (_tx: unknown, events: readonly { payload: Payload }[]) => {
    heard.push(...events.map(({ payload }) => ({ name, payload })))
  }
  const ear = defineModule({
    name: 'ear',
    description: 'Hears.',
    basePaths: [],
    requires: {},
    uses: {},
    subscribes: EVENTS,
    setup: async () => ({
      api: {},
      eventHandlers: Object.fromEntries(EVENTS.map(({ name }) => [name, hear(name)]))
    })
  })
  const shop = await openTestShop({
    databaseUrl: database.url,
    isMigrated: isMigratedFor(more),
    runsSchedulesAtStart: false,
    modules: [authModule, ...more, ear],
    settings: { ...SECRET_SETTINGS, CARTWRIGHT__AUTH__PASSWORD_HASH_CONCURRENCY: '4', ...settings }
  })
  const auth = shop.apiOf(authModule) as AuthApi
  const anonymous = shop.as(null)
  let people = 0

  const person = async ({ token, ...account }: { id: string; email: string; token: string }) => ({
    ...account,
    token,
    ...shop.as({ token })
  })
  const newEmail = () => `person${++people}.of.tests@example.com`
  return {
    ...shop,
    auth,
    anonymous,
    heard,
    newEmail,
    /** A customer who has just registered. */
    async register(over: object = {}) {
      const body = { email: newEmail(), password: PASSWORD, ...over }
      const { json } = await anonymous.post('/api/auth/register', body)
      return person({ id: json.user.id, email: json.user.email, token: json.access_token })
    },
    async newAdmin() {
      const email = newEmail()
      const { id } = await auth.createUser({ email, password: PASSWORD, role: 'admin' })
      const { json } = await anonymous.post('/api/auth/login', { email, password: PASSWORD })
      await keepRecent(shop, id)
      return person({ id, email, token: json.access_token })
    },
    logIn: (email: string, password = PASSWORD) => anonymous.post('/api/auth/login', { email, password }),
    /** Events of this name so far. */
    heardOf: (userId: string, name: string) =>
      heard.flatMap(({ name: heardName, payload }) =>
        heardName === name && payload.user_id === userId ? [payload] : []
      ),
    /** The token that a mail would contain now. */
    async sentTo(userId: string, purpose: 'email' | 'password') {
      const [row] = await shop.sql(
        'select id from auth.one_time_tokens where user_id = $1 and purpose = $2',
        [userId, purpose]
      )
      return row && auth.oneTimeToken(row.id as string)
    },
    close: async () => {
      await shop.close()
      await database.drop()
    }
  }
}
export type Accounts = TestShop & Awaited<ReturnType<typeof openAccounts>>
