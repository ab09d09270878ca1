import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { FastifyInstance } from 'fastify'
import { createPublicAnswers } from '../caching/public-answers.ts'

const require = createRequire(import.meta.url)
const DOCUMENT_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'public, no-cache',
  vary: 'Accept-Encoding'
}
const JAVASCRIPT = 'text/javascript; charset=utf-8'
const ASSETS = [
  {
    name: 'swagger-ui.css',
    type: 'text/css; charset=utf-8',
    find: () => require.resolve('swagger-ui-dist/swagger-ui.css')
  },
  {
    name: 'swagger-ui-bundle.js',
    type: JAVASCRIPT,
    find: () => require.resolve('swagger-ui-dist/swagger-ui-bundle.js')
  }
]

/** `/openapi.json`, generated from the schemas of the routes that are mounted, and `/docs`, a page that shows it. */
export function mountOpenApi(app: FastifyInstance, writeDocument: () => Promise<string>): void {
  const options = { schema: { hide: true } }
  let document: Promise<string> | undefined
  // It is the same text each time, so it is hashed and compressed once.
  app.get('/openapi.json', { ...options, onSend: createPublicAnswers() }, async (_request, reply) => {
    document ??= writeDocument()
    return reply.headers(DOCUMENT_HEADERS).send(await document)
  })
  app.get('/docs', options, (_request, reply) =>
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', POLICY)
      .send(PAGE)
  )
  for (const { name, type, find } of ASSETS) {
    let content: Buffer | undefined
    app.get(`/docs/${name}`, options, async (_request, reply) => {
      content ??= await readFile(find())
      return reply.header('content-type', type).header('cache-control', 'public, max-age=86400').send(content)
    })
  }
  app.get('/docs/start.js', options, (_request, reply) =>
    reply.header('content-type', JAVASCRIPT).send(START)
  )
}

const POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')
const START = "SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', deepLinking: true })\n"
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Cartwright API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<noscript>This page needs JavaScript. All it says is in <a href="/openapi.json">openapi.json</a>.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`
