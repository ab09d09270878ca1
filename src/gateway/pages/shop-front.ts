import type { FastifyInstance, FastifyReply } from 'fastify'
import { sendUnknownRoute } from '../problem.ts'
import type { FindWebFile } from './web-files.ts'

export const EXAMPLE_SHOP_FRONT_PATH = '/shop'

/**
 * Product images may come from any host. With Trusted Types the browser does not interpret texts of the API as markup or
 * script.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data: http: https:',
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')
const PAGE = 'index.html'
/** Paths of links in mails, such as `orders/…`, for which the page has views. */
const VIEW_PATH = /^([a-z-]+(\/[\w-]+)?\/?)?$/
const HEADERS = { 'cache-control': 'no-cache', 'content-security-policy': POLICY }

/** Mounts the example shop front at `/shop`. */
export function mountShopFront(app: FastifyInstance, find: FindWebFile): void {
  const options = { schema: { hide: true } }
  const send = async (name: string, reply: FastifyReply) => {
    const file = await find(name)
    if (file === undefined) return sendUnknownRoute(reply, [])
    return reply.headers(HEADERS).header('content-type', file.type).send(file.content)
  }
  app.get(EXAMPLE_SHOP_FRONT_PATH, options, (_request, reply) => send(PAGE, reply))
  app.get<{ Params: { '*': string } }>(`${EXAMPLE_SHOP_FRONT_PATH}/*`, options, (request, reply) => {
    const name = request.params['*']
    return send(VIEW_PATH.test(name) ? PAGE : name, reply)
  })
}
