import { emailDomain, parseEmail } from '../../../kernel/email.ts'
import type { Config } from '../../../platform/core-settings.ts'
import type { Log } from '../../../platform/log.ts'
import type { NotificationsSettings } from '../settings.ts'
import { createSmtpTransport } from './smtp.ts'
import type { MailTransport, OutgoingMail } from './transport.ts'

type Deps = {
  config: Pick<Config, 'environment' | 'shop'>
  settings: NotificationsSettings
  log: Log
  /** Stores a mail for /mails in development. */
  saveInMailbox: (mail: OutgoingMail, sender: string) => Promise<void>
}

const DEFAULT_SENDER = 'shop@localhost'

/** Returns SMTP when a server is configured. Otherwise the mailbox of development, or in production the log. */
export function selectMailTransport({ config, settings, log, saveInMailbox }: Deps) {
  const { smtp, from, reply_to } = settings
  const sender = { name: config.shop.name, address: parseEmail(from) ?? DEFAULT_SENDER }
  const replyTo = parseEmail(reply_to) ?? ''
  const transport = (): MailTransport => {
    if (smtp.url !== '') {
      return createSmtpTransport({
        url: smtp.url,
        connections: smtp.connections,
        timeoutSeconds: smtp.timeout_seconds,
        from: sender,
        replyTo
      })
    }
    if (config.environment === 'development')
      return { name: 'mailbox', send: mail => saveInMailbox(mail, sender.address), close: async () => {} }
    log.warn('notifications.smtp.url is not set: mails are not sent; each is only named in the log')
    return {
      name: 'log',
      send: async ({ id, template }) => log.warn({ message: id, template }, 'a mail is not sent'),
      close: async () => {}
    }
  }
  return { transport: transport(), domain: emailDomain(sender.address) }
}
