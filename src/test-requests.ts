import type { ShopWithGateway } from './app.ts'

/**
 * The access token, headers and body of a request to a shop for tests.
 * @example
 * const options: RequestOptions = { token: customer().token, body: { quantity: 1 } }
 */
export type RequestOptions = { token?: string; headers?: Record<string, string>; body?: unknown }
/**
 * The response to a request to a shop for tests.
 * @example
 * const codeOf = ({ json }: TestResponse): string => json.code
 */
export type TestResponse = {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  // The parsed JSON body. The test asserts its shape.
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field of a response
  json: any
}
/** Sends a request of one caller. */
type SendTestRequest = (
  path: string,
  body?: unknown,
  headers?: Record<string, string>
) => Promise<TestResponse>
/** Requests of one caller, by method. */
export type TestShopVerbs = Record<'get' | 'post' | 'put' | 'patch' | 'delete', SendTestRequest>
type TestShopRequest = (method: string, url: string, options?: RequestOptions) => Promise<TestResponse>

/** Requests of the caller with this token, by method. */
export function verbsOf(request: TestShopRequest, token: string | undefined): TestShopVerbs {
  const verb =
    (method: string): SendTestRequest =>
    (path, body, headers = {}) =>
      request(method, path, {
        headers,
        ...(token !== undefined && { token }),
        ...(body !== undefined && { body })
      })
  return {
    get: verb('GET'),
    post: verb('POST'),
    put: verb('PUT'),
    patch: verb('PATCH'),
    delete: verb('DELETE')
  }
}

/**
 * Sends a request to the server without a socket. The server need not listen.
 * @example
 * const shop = await openTestShop({ databaseUrl })
 * const { status } = await send(shop.app, 'GET', '/api/products', {})
 * await shop.close()
 * assert.equal(status, 200)
 */
export async function send(
  app: ShopWithGateway['app'],
  method: string,
  url: string,
  options: RequestOptions
): Promise<TestResponse> {
  const isJsonBody =
    options.body !== undefined && typeof options.body !== 'string' && !Buffer.isBuffer(options.body)
  const response = await app.inject({
    method: method as 'GET',
    url,
    headers: {
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      ...options.headers
    },
    ...(options.body === undefined
      ? {}
      : { payload: isJsonBody ? JSON.stringify(options.body) : (options.body as string) })
  })
  const isJsonText =
    String(response.headers['content-type']).includes('json') &&
    response.headers['content-encoding'] === undefined &&
    response.body !== ''
  let json: unknown
  return {
    status: response.statusCode,
    headers: response.headers as TestResponse['headers'],
    text: response.body,
    // Parsed when it is read, so that a measured request does not include it.
    get json() {
      if (json === undefined) json = isJsonText ? JSON.parse(response.body) : null
      return json
    }
  }
}
