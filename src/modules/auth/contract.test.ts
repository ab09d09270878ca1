import { expect, test } from 'vitest'
import { useShop } from '../../../test/support/use-shop.ts'
import { newId } from '../../kernel/ids.ts'
import { admin, customer, fakeAuth } from './fake.ts'
import { type AuthApi, authModule, type OneTimeToken, type UserContact } from './index.ts'

type Role = 'customer' | 'admin'
type Sent = { id: string; token: OneTimeToken }
type Subject = {
  auth: AuthApi
  signIn(role: Role): Promise<{ id: string; token: string }>
  /** A user, and the token that is mailed to them. */
  introduce(): Promise<{ contact: UserContact; sent: Sent; supersede(): Promise<Sent> }>
}

async function useReal(): Promise<Subject> {
  const shop = await useShop({ modules: [authModule] })
  const auth = shop.apiOf(authModule) as AuthApi
  return {
    auth,
    signIn: async role => {
      const body = { email: `${role}@example.com`, password: 'nine lives and a piano' }
      await auth.createUser({ ...body, name: undefined, role })
      const { json } = await shop.as(null).post('/api/auth/login', body)
      return { id: json.user.id, token: json.access_token }
    },
    introduce: async () => {
      const account = { email: 'eve@example.com', password: 'nine lives and a piano', name: 'Eve' }
      const { json } = await shop.as(null).post('/api/auth/register', account)
      const { id, email, name } = json.user
      const sent = async (): Promise<Sent> => {
        const [row] = await shop.sql('select id from auth.one_time_tokens where user_id = $1', [id])
        const token = await auth.oneTimeToken(row?.id as string)
        return { id: row?.id as string, token: token as OneTimeToken }
      }
      return {
        contact: { id, email, name, locale: null, emailVerified: false, formerEmail: null },
        sent: await sent(),
        supersede: async () => {
          await shop.as({ token: json.access_token }).post('/api/auth/verification')
          return sent()
        }
      }
    }
  }
}

async function useFake(): Promise<Subject> {
  const auth = fakeAuth()
  return {
    auth,
    signIn: async role => (role === 'admin' ? admin() : customer()),
    introduce: async () => {
      const [id, email] = [newId(), 'eve@example.com']
      auth.addContact({ id, email, name: 'Eve' })
      const hold = (): Sent => {
        const sent = { id: newId(), token: auth.newToken(email) }
        auth.setToken(sent.id, sent.token)
        return sent
      }
      const sent = hold()
      return {
        contact: { id, email, name: 'Eve', locale: null, emailVerified: false, formerEmail: null },
        sent,
        supersede: async () => {
          auth.setToken(sent.id, undefined)
          return hold()
        }
      }
    }
  }
}

test.each([
  ['auth', useReal],
  ['its fake', useFake]
])(
  'the auth contract of %s returns the user and expiry of a valid token and rejects others',
  async (_what, use) => {
    const { auth, signIn } = await use()
    for (const role of ['customer', 'admin'] as const) {
      const { id, token } = await signIn(role)
      const { expiresAt, ...identity } = await auth.authenticate(token)
      expect(identity).toMatchObject({ userId: id, role })
      expect(expiresAt).toBeGreaterThan(Date.now() / 1_000)
      await expect(auth.authenticate(`${token}x`)).rejects.toMatchObject({ code: 'AUTH_INVALID_TOKEN' })
    }
    await expect(auth.authenticate('')).rejects.toMatchObject({ kind: 'unauthenticated' })
    expect(auth.revocations.isLive()).toBe(true)
  }
)

test.each([
  ['auth', useReal],
  ['its fake', useFake]
])(
  'the auth contract of %s returns contacts of users, and one-time tokens while they are valid',
  async (_what, use) => {
    const { auth, introduce } = await use()
    const { contact, sent, supersede } = await introduce()
    expect(await auth.contacts([newId(), contact.id, contact.id])).toEqual([contact])
    expect(await auth.contacts([])).toEqual([])
    const { token, email, purpose, expiresAt } = sent.token
    expect([typeof token, email, purpose]).toEqual(['string', contact.email, 'verify_email'])
    expect(expiresAt.getTime()).toBeGreaterThan(Date.now())
    expect(await auth.oneTimeToken(sent.id)).toEqual(sent.token)

    const later = await supersede()
    expect(await auth.oneTimeToken(sent.id)).toBeUndefined()
    expect((await auth.oneTimeToken(later.id))?.token).not.toBe(token)
    expect(await auth.oneTimeToken(newId())).toBeUndefined()
  }
)
