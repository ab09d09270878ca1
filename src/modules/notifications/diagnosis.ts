import {
  type DiagnosisCheck,
  errorDiagnosisFinding,
  okDiagnosisFinding,
  warningDiagnosisFinding
} from '../../kernel/diagnosis.ts'
import type { Config } from '../../platform/core-settings.ts'
import type { NotificationsSettings } from './settings.ts'

const RESPONSE_MS_MAX = 5_000

/** Checks that the mail server accepts the configured login. */
export const diagnoseMailServer = (
  settings: NotificationsSettings,
  { config: { environment } }: { config: Pick<Config, 'environment'> }
): readonly DiagnosisCheck[] => [
  {
    about: 'mails',
    find: async () => {
      if (!['', 'smtp'].includes(settings.transport))
        return okDiagnosisFinding(`handed to the transport ${settings.transport}`)
      if (settings.smtp.url !== '') return checkServer(settings.smtp.url)
      if (environment === 'development') return okDiagnosisFinding('shown at /mails, not sent')
      return warningDiagnosisFinding(
        'no mail server is configured, so no mail is sent',
        'Set CARTWRIGHT__NOTIFICATIONS__SMTP__URL and notifications.from.'
      )
    }
  }
]

/** Connects and logs in to the mail server, without sending a mail. */
async function checkServer(url: string) {
  const { createTransport } = await import('nodemailer')
  const limits = {
    connectionTimeout: RESPONSE_MS_MAX,
    greetingTimeout: RESPONSE_MS_MAX,
    socketTimeout: RESPONSE_MS_MAX,
    dnsTimeout: RESPONSE_MS_MAX
  }
  const transport = createTransport({ url, ...limits, disableFileAccess: true, disableUrlAccess: true })
  try {
    await transport.verify()
    return okDiagnosisFinding('the mail server accepts mails')
  } catch (error) {
    return errorDiagnosisFinding(
      `the mail server refuses the connection or does not respond: ${(error as Error).message}`,
      'Check the host, port, user and password in notifications.smtp.url. Mails are kept and retried meanwhile.'
    )
  } finally {
    transport.close()
  }
}
