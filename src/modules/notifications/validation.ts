import { parseEmail } from '../../kernel/email.ts'
import type { SettingProblem } from '../../kernel/settings.ts'
import { HTTP_URL_WORDS, isHttpUrl } from '../../kernel/urls.ts'
import type { NotificationsSettings } from './settings.ts'

const SMTP_SCHEME = /^smtps?:$/

/** Why mails cannot be sent, or their links not be followed, with these settings. */
export function validateNotifications(settings: NotificationsSettings): SettingProblem[] {
  const { smtp, from, reply_to, staff, storefront_url, links } = settings
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
    smtp.url !== '' &&
      from === '' && {
        key: 'from',
        message: 'must be the address that mails come from, such as shop@example.com, because smtp.url is set'
      },
    ...Object.entries(addresses).map(
      ([key, address]) =>
        address !== '' &&
        parseEmail(address) === undefined && {
          key,
          message: 'must be an e-mail address such as shop@example.com'
        }
    ),
    storefront_url !== '' && !isHttpUrl(storefront_url) && { key: 'storefront_url', message: HTTP_URL_WORDS },
    // Every server on the way sees all of a link but what stands behind #.
    ...Object.entries({ guest_order, verify_email, reset_password, guest_data }).map(
      ([name, link]) =>
        !/#.*\{token\}/.test(link) && {
          key: `links.${name}`,
          message: 'must hold {token} behind a #, such as /page#token={token}'
        }
    ),
    ...Object.entries({ order, guest_order }).map(
      ([name, link]) =>
        !link.includes('{id}') && { key: `links.${name}`, message: 'must hold {id}, such as /orders/{id}' }
    )
  ]
  return problems.filter(problem => problem !== false)
}
