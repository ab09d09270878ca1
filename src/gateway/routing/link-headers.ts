import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { nextCursorInJson } from '../../kernel/pages.ts'

type Shape = { properties?: Record<string, unknown> }
type Done = (error: Error | null, payload: unknown) => void

/** Whether a path names one object of a collection: `/api/orders/:id` of `/api/orders`. */
export const isItemPathOfCollection = (collection: string, path: string): boolean =>
  path.startsWith(`${collection}/`) && /^[:{][^/]+$/.test(path.slice(collection.length + 1))

/**
 * Returns an `onRoute` hook. It adds `Location` to a 201 if a route reads the new object (RFC 9110, section 10.2.2). It
 * adds `Link` with the next page to a list (RFC 8288).
 */
export function addLocationAndLinkHeaders(): (route: RouteOptions) => void {
  const readable = new Set<string>()
  const itemsOf = new Map<string, boolean>()
  const hasItems = (url: string): boolean => {
    const known = itemsOf.get(url) ?? [...readable].some(path => isItemPathOfCollection(url, path))
    itemsOf.set(url, known)
    return known
  }
  const locate = (request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done) => {
    if (reply.statusCode === 201 && hasItems(request.routeOptions.url ?? ''))
      reply.header('location', `${pathIn(request.url)}/${(payload as { id: string }).id}`)
    done(null, payload)
  }
  return route => {
    const methods = [route.method].flat()
    const shapes = (route.schema?.response ?? {}) as Record<string, Shape>
    if (methods.includes('GET')) readable.add(route.url)
    if (methods.includes('POST') && shapes[201]?.properties?.id !== undefined)
      route.preSerialization = [locate, ...[route.preSerialization ?? []].flat()]
    if (methods.includes('GET') && shapes[200]?.properties?.next_cursor !== undefined)
      route.onSend = [linkNextPage, ...[route.onSend ?? []].flat()]
  }
}

function linkNextPage(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done): void {
  const cursor =
    typeof payload === 'string' && reply.statusCode === 200 ? nextCursorInJson(payload) : undefined
  if (cursor !== undefined) {
    const query = new URLSearchParams(request.url.split('?')[1])
    query.set('cursor', cursor)
    reply.header('link', `<${pathIn(request.url)}?${query}>; rel="next"`)
  }
  done(null, payload)
}

const pathIn = (url: string): string => url.split('?')[0] ?? ''
