import { Readable } from 'node:stream'
import { errorCodes, type FastifyRequest } from 'fastify'
import type { Tiers } from '../../../gateway/tiers.ts'
import { ImportQuery, ImportReport } from './schema.ts'
import { IMPORT_BYTES_MAX, type ImportCsv } from './service.ts'

const CSV = 'text/csv'
const isCsv = /^text\/csv\s*(?:;|$)/i
type Done = (error?: Error) => void

export function importRoutes(tiers: Tiers, importCsv: ImportCsv): void {
  // Parsers belong to a whole tier: this one hands the stream on where that is wanted and refuses it elsewhere.
  tiers.admin.addContentTypeParser(CSV, (request, body, done) => {
    if (request.routeOptions.config.streamsBody === true) done(null, body)
    else done(refusal(request))
  })

  tiers.admin.post(
    '/catalog/import',
    {
      bodyLimit: IMPORT_BYTES_MAX,
      config: { streamsBody: true },
      onRequest: requireCsv,
      schema: {
        tags: ['catalog'],
        summary: 'Import products from a CSV file as Shopify exports it',
        consumes: [CSV],
        querystring: ImportQuery,
        response: { 200: ImportReport }
      }
    },
    request => importCsv((request.body as Readable | undefined) ?? Readable.from([]), request.query)
  )
}

function requireCsv(request: FastifyRequest, _reply: unknown, done: Done): void {
  done(isCsv.test(request.headers['content-type'] ?? '') ? undefined : refusal(request))
}

const refusal = (request: FastifyRequest) =>
  new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(request.headers['content-type'])
