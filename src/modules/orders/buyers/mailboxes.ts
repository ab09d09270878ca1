/** Providers that deliver `name+tag` to `name`. */
const PLUS_DOMAINS: ReadonlySet<string> = new Set([
  ...['gmail.com', 'outlook.com', 'hotmail.com', 'live.com', 'icloud.com', 'me.com', 'mac.com'],
  ...['fastmail.com', 'proton.me', 'protonmail.com', 'pm.me']
])
/** Domains whose addresses are mailboxes of another domain. */
const SAME_DOMAIN: Readonly<Record<string, string>> = {
  'googlemail.com': 'gmail.com',
  'protonmail.com': 'proton.me',
  'pm.me': 'proton.me'
}

/**
 * Returns the mailbox behind a normalized email address if its provider supports sub-addresses, otherwise the
 * address itself. Limits of a buyer count by mailbox. No mail is sent to it.
 */
export function mailboxOfEmail(email: string): string {
  const at = email.lastIndexOf('@')
  const [local, given] = [email.slice(0, at), email.slice(at + 1)]
  const domain = SAME_DOMAIN[given] ?? given
  if (!PLUS_DOMAINS.has(domain)) return email
  const [name = ''] = local.split('+', 1)
  const mailbox = domain === 'gmail.com' ? name.replaceAll('.', '') : name
  return mailbox === '' ? email : `${mailbox}@${domain}`
}
