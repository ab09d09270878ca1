import type { Mail, Mailbox, Transport } from './port.ts'
import { SendFailure } from './port.ts'

type Options = {
  readonly url: string
  readonly connections: number
  readonly timeoutSeconds: number
  readonly from: Mailbox
  readonly replyTo: string
}
type SmtpError = Error & { code?: string; command?: string; responseCode?: number; response?: string }

const REASON_LENGTH_MAX = 500
/** What a server says of an address that nobody has (RFC 3463, 3.2), with the codes that it may do so with (RFC 5321, 4.2.3). */
const UNKNOWN_ADDRESS = /\b5\.1\.(?:1|2|10)\b/
const UNKNOWN_CODES = [550, 551, 553]
/** Answers to these are about this mail; all others are about us. */
const OF_THE_MAIL = /^(?:RCPT TO|DATA)/

/** Mails by a server that speaks SMTP. */
export function createSmtp({ url, connections, timeoutSeconds, from, replyTo }: Options): Transport {
  const open = async () => {
    const { createTransport } = await import('nodemailer')
    const milliseconds = timeoutSeconds * 1_000
    return createTransport({
      ...{ url, pool: true, maxConnections: connections, maxMessages: 100 },
      ...{ connectionTimeout: milliseconds, greetingTimeout: milliseconds, socketTimeout: milliseconds },
      ...{ dnsTimeout: milliseconds, disableFileAccess: true, disableUrlAccess: true }
    })
  }
  let opening: ReturnType<typeof open> | undefined
  return {
    name: 'smtp',
    send: async (mail: Mail) => {
      opening ??= open()
      const { to, messageId, date, subject, text, html, headers } = mail
      const transport = await opening
      try {
        await transport.sendMail({
          ...{ from, to: { ...to }, messageId, date, subject, text, html, headers: { ...headers } },
          ...(replyTo !== '' && { replyTo }),
          envelope: { from: from.address, to: [to.address] }
        })
      } catch (error) {
        throw failureOf(error as SmtpError, to.address)
      }
    },
    close: async () => (await opening)?.close()
  }
}

function failureOf(error: SmtpError, address: string): SendFailure {
  const { responseCode = 0, command = '', response = '' } = error
  const isPermanent = responseCode >= 500 && OF_THE_MAIL.test(command)
  const isUnknownAddress =
    isPermanent &&
    command.startsWith('RCPT') &&
    (UNKNOWN_ADDRESS.test(response) ||
      (UNKNOWN_CODES.includes(responseCode) && !/\b\d\.\d{1,3}\.\d{1,3}\b/.test(response)))
  const reason = `${error.message}${error.code === undefined ? '' : ` (${error.code})`}`
  const said = reason.replaceAll(address, '<recipient>').replace(/\s+/g, ' ').slice(0, REASON_LENGTH_MAX)
  return new SendFailure(said, { isPermanent, isUnknownAddress })
}
