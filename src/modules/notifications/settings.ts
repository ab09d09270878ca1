import { patternWithMessage } from '../../kernel/patterns.ts'
import { Type } from '../../kernel/schema.ts'
import {
  integerSetting,
  type SettingsOf,
  settingsSection,
  textSetting,
  urlWithPasswordSetting
} from '../../kernel/settings.ts'
import { MAIL_TEMPLATE_NAMES } from './templates/definitions.ts'

const LOCALE = '^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$'
/** Maximum connections per process to the mail server, which is the number of mails sent simultaneously. */
export const SMTP_CONNECTIONS_MAX = 4

export const notificationsSettings = settingsSection('Mails to customers and staff.', {
  smtp: settingsSection('Mail server. Without one, development shows mails at /mails.', {
    url: urlWithPasswordSetting(
      'URL of the mail server: smtps://user:password@smtp.example.com (TLS, port 465) or smtp://... (port 587, STARTTLS when the server offers it; ?requireTLS=true requires it). Best set in the environment.'
    ),
    connections: integerSetting(
      'Connections per process, which is the number of mails sent simultaneously.',
      2,
      1,
      SMTP_CONNECTIONS_MAX
    ),
    timeout_seconds: integerSetting('Seconds that the mail server may take for each response.', 15, 1, 20)
  }),
  transport: textSetting(
    'Name of the transport that sends mails: smtp, log, or one of another module. Empty: smtp with smtp.url; otherwise mails are shown at /mails in development, and only named in the log in production.',
    ''
  ),
  from: textSetting('Sender address of mails. Required to send mails.', ''),
  reply_to: textSetting('Reply-To address of mails. Empty: the sender address.', ''),
  staff: Type.Array(Type.String({ minLength: 3, maxLength: 254 }), {
    description:
      'Staff addresses that get a mail when stock runs low or out, or when a webhook endpoint is disabled.',
    default: [],
    maxItems: 20,
    uniqueItems: true
  }),
  locale: Type.String({
    description: "Language of mails when the recipient's language is unknown or has no template.",
    default: 'en',
    ...patternWithMessage(LOCALE, 'must be a language tag, such as de or de-CH')
  }),
  storefront_url: textSetting(
    'Base URL of links in mails. Empty: server.public_url; in development, the built-in shop front.',
    ''
  ),
  links: settingsSection(
    'Paths of links in mails, appended to storefront_url. A token must follow a #, because browsers never send that part to a server.',
    {
      order: textSetting('Path of the link to an order of an account.', '/orders/{id}'),
      guest_order: textSetting('Path of the link to a guest order.', '/orders/{id}#token={token}'),
      verify_email: textSetting(
        'Path of the link that verifies an e-mail address.',
        '/verify-email#token={token}'
      ),
      reset_password: textSetting(
        'Path of the link that resets a password.',
        '/reset-password#token={token}'
      ),
      guest_data: textSetting(
        'Path of the link by which a guest confirms a data request.',
        '/guest-data#token={token}'
      )
    }
  ),
  off: Type.Array(Type.Enum([...MAIL_TEMPLATE_NAMES]), {
    description: `Templates that are never sent, of: ${MAIL_TEMPLATE_NAMES.join(', ')}.`,
    default: [],
    uniqueItems: true
  }),
  suppress_after: integerSetting(
    'Consecutive rejections of an address by the mail server after which the address is suppressed.',
    1,
    1,
    100
  ),
  sends_per_minute: integerSetting('Calls of POST /api/notifications/send per minute and user.', 5),
  give_up_hours: integerSetting(
    'Hours after which a mail that the mail server does not accept is given up.',
    72,
    1,
    720
  ),
  retention_days: integerSetting(
    'Days after which sent, canceled and dead messages are deleted.',
    90,
    1,
    3_650
  ),
  mailbox_max: integerSetting('Maximum number of mails that development keeps for /mails.', 500, 1, 10_000)
})
export type NotificationsSettings = SettingsOf<typeof notificationsSettings>
