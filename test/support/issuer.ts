import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { Provider } from 'oidc-provider'
import MemoryAdapter from 'oidc-provider/lib/adapters/memory_adapter.js'

/** The clients of the test issuer. Each stands for a person; `boss` has the administrator's role and two scopes in its tokens. */
type Client = 'shop' | 'shopper' | 'boss'
type SigningKey = { kid: string; privateKey: CryptoKey; publicJwk: JWK }

/** A real OpenID Connect issuer on 127.0.0.1, and its signing key for tokens that it would never make. */
export type TestIssuer = {
  /** Its name, which is its address. */
  readonly issuer: string
  readonly audience: string
  /** The paths it was asked for, oldest first. */
  readonly requests: string[]
  /** The key that signs at present. */
  key(): SigningKey
  /** An access token (RFC 9068) by the client credentials grant. */
  accessToken(client?: Client): Promise<string>
  /** An ID token, as a client gets it beside its access token. Its audience is the client `shop`. */
  idToken(): Promise<string>
  /** Any token at all, signed with the present key. */
  sign(claims: object, header?: object): Promise<string>
  /** The claims of a good access token of the client `shopper`. */
  claims(): Record<string, unknown>
  /** From now on signs with a new key and publishes only that. */
  rotateKey(): Promise<void>
  /** Answers requests in its place; `undefined` gives them back. */
  intercept(handler: ((request: IncomingMessage, response: ServerResponse) => void) | undefined): void
  stop(): Promise<void>
}

const RESOURCE = 'urn:cartwright:shop'
const SECRET = 'a-secret-of-the-test-clients'
export const ADMIN_CLAIM = { path: 'realm_access.roles', value: 'shop-admin' }

/** Starts an issuer. The `audience` of its access tokens is also the id of one of its clients. */
export async function startIssuer(audience = 'shop'): Promise<TestIssuer> {
  const requests: string[] = []
  let intercepted: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    ;(intercepted ?? handle)(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  let key: SigningKey
  const rotateKey = async () => {
    const made = await makeKey('RS256')
    key = made.key
    handle = await createProvider(issuer, audience, made.privateJwk)
  }
  await rotateKey()

  const ask = async (client: string, grant: string, field: string): Promise<string> => {
    const response = await fetch(`${issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${client}:${SECRET}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: grant, resource: RESOURCE })
    })
    const answer = (await response.json()) as Record<string, string>
    const token = answer[field]
    if (token === undefined) throw new Error(`the issuer refused: ${JSON.stringify(answer)}`)
    return token
  }

  return {
    issuer,
    audience,
    requests,
    rotateKey,
    key: () => key,
    accessToken: (client = 'shopper') =>
      ask(client === 'shop' ? audience : client, 'client_credentials', 'access_token'),
    idToken: () => ask(audience, ID_TOKEN_GRANT, 'id_token'),
    sign: (claims, header = {}) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: key.kid, ...header })
        .sign(key.privateKey),
    claims: () => {
      const now = Math.floor(Date.now() / 1_000)
      return { iss: issuer, aud: audience, sub: 'shopper', iat: now, exp: now + 300, jti: 'made-by-hand' }
    },
    intercept: handler => {
      intercepted = handler
    },
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

/** A key pair that no issuer publishes, for invalid tokens. */
export async function makeKey(algorithm: string, kid: string = crypto.randomUUID()) {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
  const described = { kid, alg: algorithm, use: 'sig' }
  const publicJwk = { ...(await exportJWK(publicKey)), ...described }
  const privateJwk = { ...(await exportJWK(privateKey)), ...described }
  return { key: { kid, privateKey, publicJwk }, privateJwk }
}

const ID_TOKEN_GRANT = 'urn:cartwright:id-token'

// Of the same kind but not the same, because the provider warns on the console about its own.
class Memory extends MemoryAdapter {}

async function createProvider(issuer: string, audience: string, privateJwk: JWK) {
  const client = (id: string) => ({
    client_id: id,
    client_secret: SECRET,
    grant_types: ['client_credentials', ID_TOKEN_GRANT],
    redirect_uris: [],
    response_types: []
  })
  const provider = new Provider(issuer, {
    adapter: Memory,
    jwks: { keys: [privateJwk] },
    clients: [client(audience), client('shopper'), client('boss')],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: '',
          audience,
          accessTokenTTL: 300,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } }
        })
      }
    },
    extraTokenClaims: (_ctx: unknown, token: { clientId: string }) =>
      token.clientId === 'boss'
        ? { realm_access: { roles: ['staff', ADMIN_CLAIM.value] }, shop: { scopes: ['auth', 'catalog'] } }
        : undefined,
    ttl: { ClientCredentials: 300, IdToken: 300 }
  })
  provider.registerGrantType(
    ID_TOKEN_GRANT,
    async ctx => {
      const token = new provider.IdToken({ sub: 'shopper' }, { ctx })
      token.scope = 'openid'
      token.set('nonce', 'what-the-client-sent')
      ctx.body = { id_token: await token.issue({ use: 'idtoken' }) }
    },
    ['resource']
  )
  return provider.callback()
}
