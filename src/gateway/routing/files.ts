import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'

type Answer = { content?: Record<string, unknown> }
type Done = (error: Error | null, payload: unknown) => void

/** Whether an answer that a route declares is a file of rows. */
export const isCsv = ({ content }: Answer): boolean => content?.['text/csv'] !== undefined

/** For `onRoute`: a browser saves a file of rows under a name made of its path (RFC 6266). */
export function nameFiles(route: RouteOptions): void {
  const { 200: answer } = (route.schema?.response ?? {}) as { 200?: Answer }
  if (answer === undefined || !isCsv(answer)) return
  const disposition = `attachment; filename="${fileNameOf(route.url)}"`
  const name = (_request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done) => {
    if (reply.statusCode === 200) reply.header('content-disposition', disposition)
    done(null, payload)
  }
  route.onSend = [name, ...[route.onSend ?? []].flat()]
}

/** `taxes-rates.csv` of `/api/admin/taxes/rates.csv`, `catalog.csv` of `/api/catalog/export`. */
function fileNameOf(url: string): string {
  const words = url.replace(/\.csv$/, '').split('/')
  const said = words.filter(word => word !== '' && !word.startsWith(':') && !NO_SUBJECT.has(word))
  return `${said.join('-')}.csv`
}
const NO_SUBJECT = new Set(['api', 'admin', 'export'])
