import type { OutgoingMessage } from './port.ts'
import { MailSendError } from './transport.ts'

type Options = {
  readonly url: string
  readonly connections: number
  readonly timeoutSeconds: number
}
type SmtpError = Error & { code?: string; command?: string; responseCode?: number; response?: string }

const REASON_LENGTH_MAX = 500
/** Enhanced status codes of an address that does not exist (RFC 3463, section 3.2), and its reply codes (RFC 5321, 4.2.3). */
const UNKNOWN_ADDRESS = /\b5\.1\.(?:1|2|10)\b/
const UNKNOWN_CODES = [550, 551, 553]
/** Errors of these commands concern one mail. Those of others concern the login or the connection, so a retry may succeed. */
const MAIL_COMMAND = /^(?:RCPT TO|DATA)/

/** Sends mails by SMTP with a pool of connections, which opens with the first mail. */
export function createSmtpTransport({ url, connections, timeoutSeconds }: Options) {
  const open = async () => {
    const { createTransport } = await import('nodemailer')
    const milliseconds = timeoutSeconds * 1_000
    return createTransport({
      url,
      pool: true,
      maxConnections: connections,
      maxMessages: 100,
      connectionTimeout: milliseconds,
      greetingTimeout: milliseconds,
      socketTimeout: milliseconds,
      dnsTimeout: milliseconds,
      disableFileAccess: true,
      disableUrlAccess: true
    })
  }
  let opening: ReturnType<typeof open> | undefined
  return {
    send: async (mail: OutgoingMessage): Promise<void> => {
      opening ??= open()
      const { from, replyTo, to, messageId, date, subject, text, html, headers } = mail
      const transport = await opening
      try {
        await transport.sendMail({
          from: { ...from },
          to: { ...to },
          messageId,
          date,
          subject,
          text,
          html,
          headers: { ...headers },
          ...(replyTo !== null && { replyTo }),
          envelope: { from: from.address, to: [to.address] }
        })
      } catch (error) {
        throw failureOf(error as SmtpError, to.address)
      }
    },
    close: async (): Promise<void> => (await opening)?.close()
  }
}

/** Classifies an error of the mail server, and removes the address of the recipient from its text. */
function failureOf(error: SmtpError, address: string): MailSendError {
  const { responseCode = 0, command = '', response = '' } = error
  const isPermanent = responseCode >= 500 && MAIL_COMMAND.test(command)
  const isUnknownAddress =
    isPermanent &&
    command.startsWith('RCPT') &&
    (UNKNOWN_ADDRESS.test(response) ||
      (UNKNOWN_CODES.includes(responseCode) && !/\b\d\.\d{1,3}\.\d{1,3}\b/.test(response)))
  const reason = `${error.message}${error.code === undefined ? '' : ` (${error.code})`}`
    .replaceAll(address, '<recipient>')
    .replace(/\s+/g, ' ')
    .slice(0, REASON_LENGTH_MAX)
  return new MailSendError(reason, { isPermanent, isUnknownAddress })
}
