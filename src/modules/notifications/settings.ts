import { matching } from '../../kernel/patterns.ts'
import { Type } from '../../kernel/schema.ts'
import { count, type SettingsOf, section, text, urlWithPassword } from '../../kernel/settings.ts'
import { EVENT_TEMPLATES } from './templates/catalogue.ts'

const LOCALE = '^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$'
/** The most connections: a process sends so many mails at once. */
export const CONNECTIONS_MAX = 4

export const notificationsSettings = section('Mails to customers and to those who look after the shop.', {
  smtp: section('The server that takes the mails. Without one, a shop in development shows them at /mails.', {
    url: urlWithPassword(
      'smtps://user:password@smtp.example.com (TLS from the start, port 465) or smtp://... (port 587, TLS as soon as the server offers it; with ?requireTLS=true never without). Best in the environment.'
    ),
    connections: count('Connections of each process, and so mails at once.', 2, 1, CONNECTIONS_MAX),
    timeout_seconds: count('How long the server may take for each of its answers, in seconds.', 15, 1, 20)
  }),
  from: text('The address that mails come from. Needed with smtp.url.', ''),
  reply_to: text('The address that answers go to; empty: the one they come from.', ''),
  staff: Type.Array(Type.String({ minLength: 3, maxLength: 254 }), {
    description:
      'Addresses of those who are told when stock runs low or out, or the shop switches an endpoint of webhooks off.',
    default: [],
    maxItems: 20,
    uniqueItems: true
  }),
  locale: Type.String({
    description: 'The language of mails to those of whom none is known, and where a template is in no other.',
    default: 'en',
    ...matching(LOCALE, 'must be a language tag, such as de or de-CH')
  }),
  storefront_url: text(
    'Where links in mails lead; empty: server.public_url, and in development the shop front of the shop itself.',
    ''
  ),
  links: section(
    'What follows storefront_url in links. A token has to stand behind #, which browsers send to nobody.',
    {
      order: text('To an order of an account.', '/orders/{id}'),
      guest_order: text('To an order without an account.', '/orders/{id}#token={token}'),
      verify_email: text('To prove an address.', '/verify-email#token={token}'),
      reset_password: text('To choose another password.', '/reset-password#token={token}'),
      guest_data: text('To confirm that a guest sees or erases their data.', '/guest-data#token={token}')
    }
  ),
  off: Type.Array(Type.Enum([...EVENT_TEMPLATES]), {
    description: `What is not told when it happens, of: ${EVENT_TEMPLATES.join(', ')}.`,
    default: [],
    uniqueItems: true
  }),
  suppress_after: count(
    'So often, with nothing taken there in between, a server says that nobody has an address before nothing is sent there any more.',
    1,
    1,
    100
  ),
  sends_per_minute: count('Messages that are asked for by POST /api/notifications/send, by user.', 5),
  give_up_hours: count('How long a mail is tried that the server does not take, in hours.', 72, 1, 720),
  kept_days: count('What was sent, or will never be, is deleted after so many days.', 90, 1, 3_650),
  mailbox_max: count('In development, the most mails that are kept to be looked at.', 500, 1, 10_000)
})
export type NotificationsSettings = SettingsOf<typeof notificationsSettings>
