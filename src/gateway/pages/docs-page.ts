import type { FastifyInstance, FastifyReply } from 'fastify'
import { createPublicResponseCache } from '../caching/public-responses.ts'
import { sendUnknownRoute } from '../problem.ts'
import { createWebFileFinder } from './web-files.ts'

/** Caches revalidate on every use. */
const CACHING = { 'cache-control': 'public, no-cache', vary: 'Accept-Encoding' }
const DOCUMENT_HEADERS = { ...CACHING, 'content-type': 'application/json; charset=utf-8' }
/** With Trusted Types the browser does not interpret texts of the document as markup or script. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')
const HEADERS = { ...CACHING, 'content-security-policy': POLICY }
const PAGE = 'index.html'

/** Mounts `/openapi.json`, generated from the schemas of the mounted routes, and `/docs`, which shows it. */
export function mountOpenApi(app: FastifyInstance, writeDocument: () => Promise<string>): void {
  // The texts do not change, so they are hashed and compressed once.
  const options = { schema: { hide: true }, onSend: createPublicResponseCache() }
  let document: Promise<string> | undefined
  const documentOnce = () => {
    document ??= writeDocument()
    return document
  }
  app.get('/openapi.json', options, async (_request, reply) =>
    reply.headers(DOCUMENT_HEADERS).send(await documentOnce())
  )
  const find = createWebFileFinder(new URL('./docs/', import.meta.url))
  const send = async (name: string, reply: FastifyReply) => {
    const file = await find(name)
    if (file === undefined) return sendUnknownRoute(reply, [])
    return reply.headers(HEADERS).header('content-type', file.type).send(file.content)
  }
  app.get('/docs', options, (_request, reply) => send(PAGE, reply))
  app.get<{ Params: { '*': string } }>('/docs/*', options, (request, reply) =>
    send(request.params['*'] === '' ? PAGE : request.params['*'], reply)
  )
}
