import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'

type Answer = { content?: Record<string, unknown> }
type Done = (error: Error | null, payload: unknown) => void

/** Whether a route declares this response as CSV. */
export const isCsvResponse = ({ content }: Answer): boolean => content?.['text/csv'] !== undefined

/**
 * An `onRoute` hook that gives a CSV download a file name made of its path (RFC 6266). HEAD ends the export without
 * reading a row, because Node would send the headers after the last row, and the deadline could expire before.
 */
export function addCsvFileName(route: RouteOptions): void {
  const { 200: answer } = (route.schema?.response ?? {}) as { 200?: Answer }
  if (answer === undefined || !isCsvResponse(answer)) return
  const disposition = `attachment; filename="${fileNameOf(route.url)}"`
  const name = (request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done) => {
    if (reply.statusCode === 200) reply.header('content-disposition', disposition)
    if (request.method !== 'HEAD' || !(payload instanceof Readable)) return done(null, payload)
    payload.destroy()
    done(null, null)
  }
  route.onSend = [name, ...[route.onSend ?? []].flat()]
}

/** `taxes-rates.csv` of `/api/admin/taxes/rates.csv`, `catalog.csv` of `/api/catalog/export`. */
function fileNameOf(url: string): string {
  const words = url.replace(/\.csv$/, '').split('/')
  const named = words.filter(word => word !== '' && !word.startsWith(':') && !NO_SUBJECT.has(word))
  return `${named.join('-')}.csv`
}
const NO_SUBJECT = new Set(['api', 'admin', 'export'])
