import type { FastifyInstance, FastifyRequest } from 'fastify'

type Site = {
  /** URL of the shop; empty: taken from the request. */
  publicUrl: string
  /** Contacts for vulnerability reports: URIs such as `mailto:security@example.com`. */
  securityContacts: readonly string[]
  /** Whether `/openapi.json` and `/docs` are served. */
  hasDocs: boolean
}

const API_CATALOG = '/.well-known/api-catalog'
const LINKSET = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
const DAY_MS = 86_400_000
/** RFC 9116 recommends less than a year. */
const VALID_DAYS = 180

/** Mounts documents at well-known URIs (RFC 8615): the API catalog and security.txt. */
export function mountWellKnown(app: FastifyInstance, { publicUrl, securityContacts, hasDocs }: Site): void {
  const options = { schema: { hide: true } }
  const originOf = ({ protocol, host }: FastifyRequest) =>
    publicUrl.startsWith('http') ? publicUrl.replace(/\/+$/, '') : `${protocol}://${host}`

  app.get(API_CATALOG, options, (request, reply) =>
    reply
      .header('content-type', LINKSET)
      .header('link', `<${API_CATALOG}>; rel="api-catalog"`)
      .send(JSON.stringify({ linkset: [linksOf(originOf(request), hasDocs)] }))
  )
  if (securityContacts.length === 0) return
  app.get('/.well-known/security.txt', options, (request, reply) => {
    const contacts = securityContacts.map(contact => `Contact: ${contact}\n`).join('')
    const canonical = `Canonical: ${originOf(request)}/.well-known/security.txt\n`
    return reply
      .header('content-type', 'text/plain; charset=utf-8')
      .send(`${contacts}Expires: ${expiry()}\n${canonical}`)
  })
}

const linksOf = (origin: string, hasDocs: boolean) => ({
  anchor: `${origin}/api`,
  ...(hasDocs && {
    'service-desc': [{ href: `${origin}/openapi.json`, type: 'application/json' }],
    'service-doc': [{ href: `${origin}/docs`, type: 'text/html' }]
  }),
  status: [{ href: `${origin}/readyz`, type: 'application/json' }]
})

/** Returns the same time all day, so that the document stays equal. */
const expiry = (): string => {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
  return new Date(today + VALID_DAYS * DAY_MS).toISOString()
}
