import type { FastifyReply, FastifyRequest } from 'fastify'
import { afterEach, expect, test, vi } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import {
  authenticationRequiredError,
  createAuthenticationHook,
  type Identity,
  type TokenRevocationSource,
  type VerifyBearerToken
} from './identity.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** Runs the check for a token. Returns the user id or throws the error. */
function checkWith(authenticate: VerifyBearerToken, revocations?: TokenRevocationSource) {
  const check = createAuthenticationHook(authenticate, revocations)
  return (token: string): Promise<Identity | null> =>
    new Promise((resolve, reject) => {
      const request = {
        headers: { authorization: `Bearer ${token}` },
        raw: { rawHeaders: ['Authorization', `Bearer ${token}`] },
        identity: null
      } as unknown as FastifyRequest
      check(request, {} as FastifyReply, error => (error ? reject(error) : resolve(request.identity)))
    })
}
const identity = (userId: string, seconds = 60): Identity => ({
  userId,
  role: 'customer',
  scopes: null,
  sessionId: null,
  expiresAt: Date.now() / 1_000 + seconds
})

test('an access token is verified once, and its identity is cached until the token expires', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  const authenticate = vi.fn(async (token: string) => identity(token))
  const check = checkWith(authenticate)
  expect(await check('a')).toMatchObject({ userId: 'a' })
  vi.advanceTimersByTime(59_900)
  expect(await check('a')).toMatchObject({ userId: 'a' })
  expect(authenticate).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(200)
  await check('a')
  expect(authenticate).toHaveBeenCalledTimes(2)
})

test('simultaneous requests with the same token verify it once, and another token separately', async () => {
  const authenticate = vi.fn(async (token: string) => identity(token))
  const check = checkWith(authenticate)
  const found = await Promise.all(['a', 'b', 'a', 'a', 'b'].map(check))
  expect(found.map(each => each?.userId)).toEqual(['a', 'b', 'a', 'a', 'b'])
  expect(authenticate).toHaveBeenCalledTimes(2)
})

test('a rejected token is verified again at its next use', async () => {
  let valid = false
  const check = checkWith(async token => {
    if (!valid) throw authenticationRequiredError()
    return identity(token)
  })
  await expect(check('a')).rejects.toMatchObject({ code: 'AUTHENTICATION_REQUIRED' })
  valid = true
  expect(await check('a')).toMatchObject({ userId: 'a' })
})

test('a token never gets the identity of another token', async () => {
  const check = checkWith(async token => identity(token))
  for (const token of ['a', 'aa', 'A', 'a.b', 'a.b.c']) {
    expect((await check(token))?.userId).toBe(token)
    expect((await check(token))?.userId).toBe(token)
  }
})

test('the cache of verified tokens is bounded', async () => {
  const authenticate = vi.fn(async (token: string) => identity(token))
  const check = checkWith(authenticate)
  const token = (index: number) => `${index}`.padStart(1_000, '.')
  for (let index = 0; index <= 50_000; index += 1) await check(token(index))
  await check(token(50_000))
  expect(authenticate).toHaveBeenCalledTimes(50_001)
  await check(token(0))
  expect(authenticate).toHaveBeenCalledTimes(50_002)
})

test('an error during the verification of a token is passed on unchanged', async () => {
  const failure = new Error('the issuer does not answer')
  await expect(checkWith(() => Promise.reject(failure))('a')).rejects.toBe(failure)
})

/** Creates revocations under control of the test. */
function useRevocations() {
  let subscriber: Parameters<TokenRevocationSource['subscribe']>[0] | undefined
  const state = { isLive: true }
  const revocations: TokenRevocationSource = {
    subscribe: each => {
      subscriber = each
    },
    isLive: () => state.isLive
  }
  return {
    state,
    revocations,
    revoke: (userId: string) => subscriber?.onRevoked(userId),
    gap: () => subscriber?.onGap()
  }
}

test('a revocation discards only the cached tokens of its user', async () => {
  const { revocations, revoke } = useRevocations()
  const authenticate = vi.fn(async (token: string) => identity(token))
  const check = checkWith(authenticate, revocations)
  await check('a')
  await check('b')
  revoke('a')
  await check('b')
  expect(authenticate).toHaveBeenCalledTimes(2)
  await check('a')
  expect(authenticate).toHaveBeenCalledTimes(3)
  await check('a')
  expect(authenticate).toHaveBeenCalledTimes(3)
})

test('the token cache is cleared when revocations may have been missed, and stays empty while they may be', async () => {
  const { revocations, state, gap } = useRevocations()
  const authenticate = vi.fn(async (token: string) => identity(token))
  const check = checkWith(authenticate, revocations)
  await check('a')
  state.isLive = false
  gap()
  await check('a')
  await check('a')
  expect(authenticate).toHaveBeenCalledTimes(3)
  state.isLive = true
  gap()
  await check('a')
  await check('a')
  expect(authenticate).toHaveBeenCalledTimes(4)
})

test('a token verification that started before a revocation is neither used nor cached', async () => {
  const { revocations, revoke } = useRevocations()
  const answers: ((userId: string) => void)[] = []
  let asked = 0
  const check = checkWith(() => {
    asked += 1
    if (asked > 1) return Promise.reject(authenticationRequiredError())
    return new Promise(resolve => answers.push(userId => resolve(identity(userId))))
  }, revocations)
  const early = check('a')
  await eventually(() => expect(asked).toBe(1))
  revoke('a')
  const late = check('a')
  answers[0]?.('a')
  await expect(late).rejects.toMatchObject({ code: 'AUTHENTICATION_REQUIRED' })
  await expect(early).rejects.toMatchObject({ code: 'AUTHENTICATION_REQUIRED' })
  await expect(check('a')).rejects.toMatchObject({ code: 'AUTHENTICATION_REQUIRED' })
})

test('too many revocations clear the token cache', async () => {
  const { revocations, revoke } = useRevocations()
  const authenticate = vi.fn(async (token: string) => identity(token))
  const check = checkWith(authenticate, revocations)
  await check('a')
  for (let index = 0; index <= 10_000; index += 1) revoke(`user${index}`)
  await check('a')
  expect(authenticate).toHaveBeenCalledTimes(2)
})
