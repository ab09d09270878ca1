import { expect, test } from 'vitest'
import { useShop } from '../../../test/support/use-shop.ts'
import { admin, customer, fakeAuth } from './fake.ts'
import { type AuthApi, authModule } from './index.ts'

type Role = 'customer' | 'admin'
type Subject = { auth: AuthApi; signIn(role: Role): Promise<{ id: string; token: string }> }

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
    }
  }
}

const useFake = async (): Promise<Subject> => ({
  auth: fakeAuth(),
  signIn: async role => (role === 'admin' ? admin() : customer())
})

test.each([
  ['auth', useReal],
  ['its fake', useFake]
])('%s knows who a token belongs to, until when, and no other token', async (_what, use) => {
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
})
