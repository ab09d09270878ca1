import type { Config } from '../../config.ts'
import { type Diagnosis, ok, warning, wrong } from '../../kernel/diagnosis.ts'
import type { NotificationsSettings } from './settings.ts'

const ANSWER_MS_MAX = 5_000

/** Whether mails leave the shop. */
export const diagnoseNotifications = (
  settings: NotificationsSettings,
  { config: { environment } }: { config: Pick<Config, 'environment'> }
): readonly Diagnosis[] => [
  {
    about: 'mails',
    find: async () => {
      if (settings.smtp.url !== '') return askServer(settings.smtp.url)
      if (environment === 'development') return ok('kept, and shown at /mails')
      return warning(
        'no server is set, so nobody gets a mail',
        'Set CARTWRIGHT__NOTIFICATIONS__SMTP__URL and notifications.from.'
      )
    }
  }
]

/** Speaks with the server as far as a log-in, and sends nothing. */
async function askServer(url: string) {
  const { createTransport } = await import('nodemailer')
  const limits = {
    connectionTimeout: ANSWER_MS_MAX,
    greetingTimeout: ANSWER_MS_MAX,
    socketTimeout: ANSWER_MS_MAX,
    dnsTimeout: ANSWER_MS_MAX
  }
  const transport = createTransport({ url, ...limits, disableFileAccess: true, disableUrlAccess: true })
  try {
    await transport.verify()
    return ok('the server takes them')
  } catch (error) {
    return wrong(
      `the mail server refuses, or does not answer: ${(error as Error).message}`,
      'See that the host, port, user and password of notifications.smtp.url are right. Mails are kept meanwhile, and tried again.'
    )
  } finally {
    transport.close()
  }
}
