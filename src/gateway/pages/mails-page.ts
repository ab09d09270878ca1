import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { escapeHtml } from '../../kernel/html.ts'
import { clientNotDevelopmentPeerError } from '../errors.ts'
import { sendUnknownRoute } from '../problem.ts'

export const DEVELOPMENT_MAILS_PAGE_PATH = '/mails'

type DevMailSummary = {
  readonly id: string
  readonly template: string
  readonly sender: string
  readonly recipient: string
  readonly subject: string
  readonly sent_at: Date
}
type DevMail = DevMailSummary & {
  readonly message_id: string
  readonly body_text: string
  readonly body_html: string
  readonly headers: Readonly<Record<string, string>>
}
/** Mails that are kept instead of sent, in development. */
export type DevelopmentMails = {
  /** Lists the newest first, optionally those to one recipient. */
  list(recipient: string | null): Promise<readonly DevMailSummary[]>
  find(id: string): Promise<DevMail | undefined>
}

type Params = { Params: { id: string } }

/** Mounts `/mails`: a page for browsers, JSON for other clients. Only development peers, because mails contain reset links. */
export function mountMailsPage(
  app: FastifyInstance,
  mails: DevelopmentMails,
  isDevelopmentPeer: (address: string | undefined) => boolean
): void {
  const requireDevelopmentPeer = (
    request: FastifyRequest,
    _reply: FastifyReply,
    done: (error?: Error) => void
  ) => done(isDevelopmentPeer(request.socket.remoteAddress) ? undefined : clientNotDevelopmentPeerError())
  const options = { schema: { hide: true }, onRequest: requireDevelopmentPeer }
  for (const path of [DEVELOPMENT_MAILS_PAGE_PATH, `${DEVELOPMENT_MAILS_PAGE_PATH}/`])
    app.get<{ Querystring: { to?: unknown } }>(path, options, async (request, reply) => {
      const { to } = request.query
      const items = await mails.list(typeof to === 'string' && to !== '' ? to : null)
      return wantsPage(request, reply) ? sendPage(reply, 'Mails', listPage(items)) : { items }
    })
  app.get<Params>(`${DEVELOPMENT_MAILS_PAGE_PATH}/:id`, options, async (request, reply) => {
    const mail = await mails.find(request.params.id)
    if (mail === undefined) return sendUnknownRoute(reply, [])
    return wantsPage(request, reply) ? sendPage(reply, mail.subject, mailPage(mail)) : mail
  })
  app.get<Params>(`${DEVELOPMENT_MAILS_PAGE_PATH}/:id/html`, options, async (request, reply) => {
    const mail = await mails.find(request.params.id)
    if (mail === undefined) return sendUnknownRoute(reply, [])
    return reply
      .headers({ 'content-security-policy': MAIL_POLICY, 'x-frame-options': 'SAMEORIGIN' })
      .header('content-type', 'text/html; charset=utf-8')
      .send(mail.body_html)
  })
}

function wantsPage(request: FastifyRequest, reply: FastifyReply): boolean {
  reply.header('vary', 'Accept')
  return request.headers.accept?.includes('text/html') === true
}

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem }
table { width: 100%; border-collapse: collapse }
th, td { text-align: left; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid #8884; vertical-align: top; overflow-wrap: anywhere }
th, td:first-child { overflow-wrap: normal }
@media (max-width: 40rem) { :is(th, td):nth-child(4) { display: none } }
iframe { width: 100%; height: 40rem; border: 1px solid #8884; border-radius: .5rem; background: #fff }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 1rem; border: 1px solid #8884; border-radius: .5rem }
`
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')
/** In its frame a mail may have styles, images and links only. */
const MAIL_POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data: http: https:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  'sandbox allow-popups allow-popups-to-escape-sandbox'
].join('; ')

const sendPage = (reply: FastifyReply, title: string, content: string) =>
  reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', POLICY)
    .send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`)

/** `2026-11-22 17:03:20 UTC` */
const moment = (at: Date) => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`
const row = (...cells: string[]) => `<tr>${cells.map(cell => `<td>${cell}</td>`).join('')}</tr>`

const listPage = (mails: readonly DevMailSummary[]) => `<h1>Mails</h1>
<p>Mails that the shop would send in production, newest first. They contain login and reset links, so this page exists in
development only.</p>
${
  mails.length === 0
    ? '<p>There are no mails yet. Place an order or register.</p>'
    : `<table>
<tr><th>Date</th><th>To</th><th>Subject</th><th>Template</th></tr>
${mails
  .map(({ id, sent_at, recipient, subject, template }) =>
    row(
      moment(sent_at),
      escapeHtml(recipient),
      `<a href="${DEVELOPMENT_MAILS_PAGE_PATH}/${id}">${escapeHtml(subject)}</a>`,
      escapeHtml(template)
    )
  )
  .join('\n')}
</table>`
}`

const mailPage = (mail: DevMail) => `<p><a href="${DEVELOPMENT_MAILS_PAGE_PATH}">All mails</a></p>
<h1>${escapeHtml(mail.subject)}</h1>
<table>
${row('From', escapeHtml(mail.sender))}
${row('To', escapeHtml(mail.recipient))}
${row('Date', moment(mail.sent_at))}
${row('Message-ID', escapeHtml(mail.message_id))}
${Object.entries(mail.headers)
  .map(([name, value]) => row(escapeHtml(name), escapeHtml(value)))
  .join('\n')}
</table>
<h2>HTML</h2>
<iframe sandbox="allow-popups allow-popups-to-escape-sandbox" src="${DEVELOPMENT_MAILS_PAGE_PATH}/${mail.id}/html" title="The mail as HTML"></iframe>
<h2>Text</h2>
<pre>${escapeHtml(mail.body_text)}</pre>`
