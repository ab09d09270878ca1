import type { FastifyInstance, FastifyReply } from 'fastify'
import { sendUnknownRoute } from '../problem.ts'
import type { WebFiles } from './web-files.ts'

export const SHOP_PATH = '/shop'

/**
 * `/shop`: a shop front, which is a page with scripts and styles of its own. Pictures of products may be anywhere. What the API
 * says cannot become markup or a script, because the browser refuses it (Trusted Types).
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
/** Where links of mails lead, such as `orders/…`: the page itself knows what to show there. */
const PLACE = /^([a-z-]+(\/[\w-]+)?\/?)?$/
const HEADERS = { 'cache-control': 'no-cache', 'content-security-policy': POLICY }

export function mountShopFront(app: FastifyInstance, find: WebFiles): void {
  const options = { schema: { hide: true } }
  const send = async (name: string, reply: FastifyReply) => {
    const file = await find(name)
    if (file === undefined) return sendUnknownRoute(reply, [])
    return reply.headers(HEADERS).header('content-type', file.type).send(file.content)
  }
  app.get(SHOP_PATH, options, (_request, reply) => send(PAGE, reply))
  app.get<{ Params: { '*': string } }>(`${SHOP_PATH}/*`, options, (request, reply) => {
    const name = request.params['*']
    return send(PLACE.test(name) ? PAGE : name, reply)
  })
}
