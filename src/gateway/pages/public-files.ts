import type { FastifyInstance } from 'fastify'
import { sendUnknownRoute } from '../problem.ts'

/** Public files, found by name below `path`. */
export type PublicFiles = {
  readonly path: string
  readonly type: string
  find(name: string): Promise<string | undefined>
}

/** The files change only with a new version, so caches store them for a day. Pages of other origins may embed them. */
const HEADERS = {
  'cache-control': 'public, max-age=86400',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin'
}

export function mountPublicFiles(app: FastifyInstance, files: readonly PublicFiles[]): void {
  for (const { path, type, find } of files) {
    app.get<{ Params: { name: string } }>(
      `${path}:name`,
      { schema: { hide: true } },
      async (request, reply) => {
        const content = await find(request.params.name)
        if (content === undefined) return sendUnknownRoute(reply, [])
        return reply.headers(HEADERS).header('content-type', type).send(content)
      }
    )
  }
}
