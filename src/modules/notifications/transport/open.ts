import type { Config } from '../../../config.ts'
import { domainOf, parseEmail } from '../../../kernel/email.ts'
import type { Log } from '../../../platform/log.ts'
import type { NotificationsSettings } from '../settings.ts'
import type { Mail, Transport } from './port.ts'
import { createSmtp } from './smtp.ts'

type Deps = {
  config: Pick<Config, 'environment' | 'shop'>
  settings: NotificationsSettings
  log: Log
  /** Where mails are kept in development. */
  keep: (mail: Mail, sender: string) => Promise<void>
}

const NOBODY = 'shop@localhost'

/** How mails leave this shop: by its server; in development, without one, not at all. */
export function openTransport({ config, settings, log, keep }: Deps) {
  const { smtp, from, reply_to } = settings
  const sender = { name: config.shop.name, address: parseEmail(from) ?? NOBODY }
  const replyTo = parseEmail(reply_to) ?? ''
  const transport = (): Transport => {
    if (smtp.url !== '') {
      return createSmtp({
        ...{ url: smtp.url, connections: smtp.connections, timeoutSeconds: smtp.timeout_seconds },
        ...{ from: sender, replyTo }
      })
    }
    if (config.environment === 'development')
      return { name: 'mailbox', send: mail => keep(mail, sender.address), close: async () => {} }
    log.warn('notifications.smtp.url is not set: mails are not sent, and the log names each that would be')
    return {
      name: 'log',
      send: async ({ id, template }) => log.warn({ message: id, template }, 'a mail is not sent'),
      close: async () => {}
    }
  }
  return { transport: transport(), domain: domainOf(sender.address) }
}
