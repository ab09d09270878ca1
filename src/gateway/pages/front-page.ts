import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { escapeHtml } from '../../kernel/html.ts'
import { DEVELOPMENT_MAILS_PAGE_PATH } from './mails-page.ts'
import { EXAMPLE_SHOP_FRONT_PATH } from './shop-front.ts'

export type FrontPageContent = {
  /** Returns curl commands for a shop at this address. */
  examples(address: string): Promise<readonly string[]>
  guides(): Promise<readonly { title: string; href: string }[]>
}
type Shop = FrontPageContent & {
  name: string
  version: string
  publicUrl: string
  hasDocs: boolean
  hasPrivateMetrics: boolean
  hasShopFront: boolean
  hasMails: boolean
}

/**
 * Mounts `/`, which links to the documentation and the health checks: as a page for browsers, as JSON for other clients.
 */
export function mountFrontPage(app: FastifyInstance, shop: Shop): void {
  const links = {
    name: shop.name,
    version: shop.version,
    ...(shop.hasDocs && DOCS),
    ...LINKS,
    ...(!shop.hasPrivateMetrics && { metrics: METRICS[0] }),
    ...(shop.hasShopFront && { shop_front: EXAMPLE_SHOP_FRONT_PATH }),
    ...(shop.hasMails && { mails: DEVELOPMENT_MAILS_PAGE_PATH })
  }
  app.get('/', { schema: { hide: true } }, async (request, reply) => {
    reply.header('vary', 'Accept')
    if (!request.headers.accept?.includes('text/html')) return links
    const [examples, guides] = await Promise.all([shop.examples(addressOf(shop, request)), shop.guides()])
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', POLICY)
      .send(page(shop, examples, guides))
  })
}

const DOCS = { documentation: '/docs', openapi: '/openapi.json' }
const LINKS = {
  health: '/healthz',
  readiness: '/readyz'
}
const METRICS = ['/metrics', '/metricsz']

/** Returns the configured public URL, or the address of the request. */
const addressOf = ({ publicUrl }: Shop, { protocol, host }: FastifyRequest): string =>
  publicUrl.startsWith('http') ? publicUrl.replace(/\/+$/, '') : `${protocol}://${host}`

const STYLE = `
:root { color-scheme: light dark; --back: #fbf9f5; --card: #fff; --text: #26241f; --soft: #5f5a50; --rule: #e2dccf;
  --link: #8f3f1d; --code: #f2ede3 }
@media (prefers-color-scheme: dark) { :root { --back: #191815; --card: #22201c; --text: #edeae3; --soft: #b3ada0;
  --rule: #3b3831; --link: #f0a582; --code: #2b2924 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text); font: 1.0625rem/1.55 system-ui, sans-serif }
main { max-width: 54rem; margin: 0 auto; padding: clamp(1.5rem, 6vw, 4.5rem) 1.25rem }
h1 { margin: 0 0 .5rem; font-size: clamp(2rem, 6vw, 3rem); line-height: 1.15; overflow-wrap: anywhere }
h2 { margin: 2.75rem 0 .75rem; font-size: 1.25rem }
p { margin: 0 0 1rem; max-width: 40rem }
.lead { font-size: 1.2rem; color: var(--soft) }
a { color: var(--link); text-underline-offset: .15em }
a:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
pre { margin: 0 0 .75rem; padding: .8rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--code);
  border: 1px solid var(--rule); border-radius: .5rem; font: .875rem/1.5 ui-monospace, monospace; user-select: all }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(15rem, 100%), 1fr)); gap: 1rem }
.cards section { padding: 1.1rem 1.25rem; background: var(--card); border: 1px solid var(--rule); border-radius: .75rem }
.cards h3 { margin: 0 0 .4rem; font-size: 1.0625rem }
.cards p { margin: 0 0 .5rem; color: var(--soft) }
ul { margin: 0; padding: 0; list-style: none }
li { padding: .15rem 0 }
footer { margin-top: 3rem; color: var(--soft); font-size: .9375rem }
`
const POLICY = [
  "default-src 'none'",
  'img-src data:',
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')
const WHEEL =
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32' fill='none' stroke='#b5542a' stroke-width='3'>" +
  "<circle cx='16' cy='16' r='13'/><path d='M16 3v26M3 16h26M7 7l18 18M25 7L7 25'/></svg>"

const list = (links: readonly { title: string; href: string }[]) =>
  `<ul>${links.map(({ title, href }) => `<li><a href="${escapeHtml(href)}">${escapeHtml(title)}</a></li>`).join('')}</ul>`
const card = (title: string, text: string, links: readonly { title: string; href: string }[]) =>
  links.length === 0 ? '' : `<section><h3>${title}</h3><p>${text}</p>${list(links)}</section>\n`

function page(
  { name, version, hasDocs, hasPrivateMetrics, hasShopFront, hasMails }: Shop,
  examples: readonly string[],
  guides: readonly { title: string; href: string }[]
): string {
  const lines = examples.map(example => `<pre><code>${escapeHtml(example)}</code></pre>\n`).join('')
  const diagnostics = ['/healthz', '/readyz', ...(hasPrivateMetrics ? [] : METRICS)].map(href => ({
    title: href,
    href
  }))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(name)}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(WHEEL)}">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(name)}</h1>
<p class="lead">This is the API of a shop. Customers use a shop front or an app, which gets its data from this
API.</p>
${lines === '' ? '' : `<h2>Try it</h2>\n<p>Paste these commands into a terminal. One click selects a command.</p>\n${lines}`}
<h2>Links</h2>
<div class="cards">
${card('Shop front', 'A small example shop front that uses the API.', hasShopFront ? [{ title: 'Open the shop', href: EXAMPLE_SHOP_FRONT_PATH }] : [])}${card('Mails', 'Mails that the shop would send in production.', hasMails ? [{ title: 'Open the mails', href: DEVELOPMENT_MAILS_PAGE_PATH }] : [])}${card(
  'API',
  'Reference of all operations with a form for requests, and the OpenAPI document.',
  hasDocs
    ? [
        { title: 'API reference', href: DOCS.documentation },
        { title: 'openapi.json', href: DOCS.openapi }
      ]
    : []
)}${card('Guides', 'How to build a shop front and run a shop.', guides)}${card('Diagnostics', 'Health and metrics of the process.', diagnostics)}</div>
<footer>Cartwright ${escapeHtml(version)}</footer>
</main>
</body>
</html>
`
}
