import { parseEmail } from '../../kernel/email.ts'
import type { SettingProblem } from '../../kernel/settings.ts'
import { HTTP_URL_MESSAGE, isHttpUrl } from '../../kernel/urls.ts'
import type { NotificationsSettings } from './settings.ts'

/** Transports that send no mails. Empty: the default. */
const WITHOUT_SENDER = ['', 'mailbox', 'log']
const SMTP_SCHEME = /^smtps?:$/

/** Returns the settings with which mails could not be sent or their links would not work. */
export function validateNotificationSettings(settings: NotificationsSettings): SettingProblem[] {
  const { smtp, transport, from, reply_to, staff, storefront_url, links } = settings
  const addresses = {
    from,
    reply_to,
    ...Object.fromEntries(staff.map((each, index) => [`staff.${index}`, each]))
  }
  const { order, guest_order, verify_email, reset_password, guest_data } = links
  const url = URL.parse(smtp.url)
  const isServer = url !== null && SMTP_SCHEME.test(url.protocol) && url.hostname !== ''
  const problems: (SettingProblem | false)[] = [
    smtp.url !== '' &&
      !isServer && {
        key: 'smtp.url',
        message:
          'must look like smtps://user:password@smtp.example.com; in user and password, write # / ? @ : as %23 %2F %3F %40 %3A'
      },
    transport === 'smtp' &&
      smtp.url === '' && { key: 'smtp.url', message: 'must be set, because transport is smtp' },
    from === '' &&
      (smtp.url !== '' || !WITHOUT_SENDER.includes(transport)) && {
        key: 'from',
        message: `must be the address that mails come from, such as shop@example.com, because ${smtp.url === '' ? 'transport' : 'smtp.url'} is set`
      },
    ...Object.entries(addresses).map(
      ([key, address]) =>
        address !== '' &&
        parseEmail(address) === undefined && {
          key,
          message: 'must be an e-mail address such as shop@example.com'
        }
    ),
    storefront_url !== '' &&
      !isHttpUrl(storefront_url) && { key: 'storefront_url', message: HTTP_URL_MESSAGE },
    // Servers and proxies log URLs, but never see the part after #.
    ...Object.entries({ guest_order, verify_email, reset_password, guest_data }).map(
      ([name, link]) =>
        !/#.*\{token\}/.test(link) && {
          key: `links.${name}`,
          message: 'must contain {token} after a #, such as /page#token={token}'
        }
    ),
    ...Object.entries({ order, guest_order }).map(
      ([name, link]) =>
        !link.includes('{id}') && { key: `links.${name}`, message: 'must contain {id}, such as /orders/{id}' }
    )
  ]
  return problems.filter(problem => problem !== false)
}
