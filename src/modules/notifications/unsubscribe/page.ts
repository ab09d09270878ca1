import { escapeHtml } from '../../../kernel/html.ts'

const POLICY = "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

type PageContent = { address: string; is_unsubscribed: boolean; shopName: string; action: string }

/** The page of an unsubscribe link. It has a button, because link scanners open links but press no buttons. */
export const renderUnsubscribePage = ({ address, is_unsubscribed, shopName, action }: PageContent) => ({
  type: 'text/html; charset=utf-8',
  policy: POLICY,
  body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(shopName)}</title>
</head>
<body>
<h1>${escapeHtml(shopName)}</h1>
${
  is_unsubscribed
    ? `<p>${escapeHtml(address)} is unsubscribed from these mails.</p>`
    : `<p>Unsubscribe ${escapeHtml(address)} from these mails? We still send mails about your orders and your account.</p>
<form method="post" action="${escapeHtml(action)}"><button name="List-Unsubscribe" value="One-Click">Unsubscribe</button></form>`
}
</body>
</html>
`
})
