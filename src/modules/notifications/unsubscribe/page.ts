import { escaped } from '../../../kernel/html.ts'

const POLICY = "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

type Shown = { address: string; is_unsubscribed: boolean; shopName: string; action: string }

/** Where somebody says that they want no more: by a button, which programs that look at links do not press. */
export const unsubscribePage = ({ address, is_unsubscribed, shopName, action }: Shown) => ({
  type: 'text/html; charset=utf-8',
  policy: POLICY,
  body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(shopName)}</title>
</head>
<body>
<h1>${escaped(shopName)}</h1>
${
  is_unsubscribed
    ? `<p>${escaped(address)} gets no more such mails.</p>`
    : `<p>Shall ${escaped(address)} get no more such mails? Those about orders and the account still come.</p>
<form method="post" action="${escaped(action)}"><button name="List-Unsubscribe" value="One-Click">Get no more</button></form>`
}
</body>
</html>
`
})
