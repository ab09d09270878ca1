import { type PortProvider, provide } from '../../../kernel/ports.ts'
import type { Config } from '../../../platform/core-settings.ts'
import type { Log } from '../../../platform/log.ts'
import type { NotificationsSettings } from '../settings.ts'
import { type NotificationTransport, notificationTransportPort, type OutgoingMessage } from './port.ts'
import { createSmtpTransport } from './smtp.ts'

type Deps = {
  config: Pick<Config, 'environment'>
  settings: NotificationsSettings
  log: Log
  /** Stores a mail for /mails in development. */
  saveInMailbox: (message: OutgoingMessage) => Promise<void>
}

/**
 * Returns the name of the transport that is used. Default: SMTP when a server is configured. Otherwise the mailbox of
 * development, or in production the log.
 */
export function transportNameOf({ config, settings }: Pick<Deps, 'config' | 'settings'>): string {
  if (settings.transport !== '') return settings.transport
  if (settings.smtp.url !== '') return 'smtp'
  return config.environment === 'development' ? 'mailbox' : 'log'
}

/** Creates the transports that notifications provides: SMTP with a configured server, the mailbox in development, the log. */
export function createOwnTransports({ config, settings: { smtp }, log, saveInMailbox }: Deps) {
  const server =
    smtp.url === ''
      ? undefined
      : createSmtpTransport({
          url: smtp.url,
          connections: smtp.connections,
          timeoutSeconds: smtp.timeout_seconds
        })
  const toLog: NotificationTransport = {
    send: async ({ id, template }) => log.warn({ message: id, template }, 'a mail is not sent')
  }
  const providers: PortProvider[] = [
    ...(server === undefined ? [] : [provide(notificationTransportPort, 'smtp', server)]),
    ...(config.environment === 'development'
      ? [provide(notificationTransportPort, 'mailbox', { send: saveInMailbox })]
      : []),
    provide(notificationTransportPort, 'log', toLog)
  ]
  return { providers, close: async () => server?.close() }
}
