import type { Config } from '../../../config.ts'
import { domainOf, parseEmail } from '../../../kernel/email.ts'
import { OperatorError } from '../../../kernel/errors.ts'
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
const SCHEME = /^smtps?:$/

/** How mails leave this shop: by its server; in development, without one, not at all. @throws OperatorError */
export function openTransport({ config, settings, log, keep }: Deps) {
  const { smtp, from, reply_to } = settings
  const address = senderOf(from)
  const replyTo = reply_to === '' ? '' : addressOf('notifications.reply_to', reply_to)
  const sender = { name: config.shop.name, address: address ?? NOBODY }
  const transport = (): Transport => {
    if (smtp.url !== '') {
      return createSmtp({
        ...{ url: serverOf(settings), connections: smtp.connections, timeoutSeconds: smtp.timeout_seconds },
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

const senderOf = (from: string) => (from === '' ? undefined : addressOf('notifications.from', from))

/** The server that takes mails. @throws OperatorError unless its URL can be used, and mails have an address to come from. */
export function serverOf({ smtp, from }: Pick<NotificationsSettings, 'smtp' | 'from'>): string {
  if (senderOf(from) === undefined)
    throw new OperatorError(
      'notifications.from: an address is needed that mails come from, such as shop@example.com, because notifications.smtp.url is set.'
    )
  return urlOf(smtp.url)
}

function addressOf(key: string, text: string): string {
  const address = parseEmail(text)
  if (address === undefined)
    throw new OperatorError(`${key}: must be an e-mail address such as shop@example.com.`)
  return address
}

/** It may hold a password, and is not repeated. */
function urlOf(text: string): string {
  const url = URL.parse(text)
  if (url === null || !SCHEME.test(url.protocol) || url.hostname === '')
    throw new OperatorError(
      'notifications.smtp.url: must look like smtps://user:password@smtp.example.com; in user and password, write # / ? @ : as %23 %2F %3F %40 %3A.'
    )
  return text
}
