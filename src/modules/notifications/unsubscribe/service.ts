import type { Config } from '../../../platform/core-settings.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { unsubscribeLinkRefusedError } from '../errors.ts'
import { maskEmailAddress, type SuppressionList } from '../suppressions/service.ts'
import { renderUnsubscribePage } from './page.ts'

const PURPOSE = 'notifications.unsubscribe'
const PATH = '/api/notifications/unsubscribe'

type Deps = {
  db: Database
  secrets: Pick<Secrets, 'seal' | 'open'>
  config: Pick<Config, 'environment' | 'server' | 'shop'>
  suppressions: SuppressionList
}

/** Links by which recipients unsubscribe from optional mails (RFC 8058). The token is the encrypted address, so no login is needed. */
export function createUnsubscribeService({ db, secrets, config, suppressions }: Deps) {
  const { environment, server, shop } = config
  const url = URL.parse(server.public_url)
  const development = environment === 'development' ? `http://127.0.0.1:${server.port}` : ''
  const base =
    url !== null && /^https?:$/.test(url.protocol) ? server.public_url.replace(/\/+$/, '') : development

  /** @throws `NOTIFICATION_UNSUBSCRIBE_REFUSED` */
  function addressOf(token: string): string {
    const opened = secrets.open(PURPOSE, Buffer.from(token, 'base64url'))
    if (opened === undefined) throw unsubscribeLinkRefusedError()
    return opened.toString('utf8')
  }
  const isUnsubscribed = async (address: string) =>
    (await suppressions.check(address, true)).reason === 'unsubscribed'

  return {
    /** Returns the unsubscribe URL of an address; '' when the URL of the API is not configured. */
    linkFor: (address: string): string =>
      base === ''
        ? ''
        : `${base}${PATH}?token=${secrets.seal(PURPOSE, Buffer.from(address)).toString('base64url')}`,
    /** Returns a page or JSON and changes nothing, because mail programs and link scanners open links, too. */
    show: async (token: string, accept: string | undefined) => {
      const address = addressOf(token)
      const shown = { address: maskEmailAddress(address), is_unsubscribed: await isUnsubscribed(address) }
      return accept?.includes('text/html') === true
        ? renderUnsubscribePage({ ...shown, shopName: shop.name, action: `${PATH}?token=${token}` })
        : {
            type: 'application/json; charset=utf-8',
            policy: "default-src 'none'",
            body: JSON.stringify(shown)
          }
    },
    unsubscribe: async (token: string): Promise<{ address: string; is_unsubscribed: boolean }> => {
      const address = addressOf(token)
      if (!(await isUnsubscribed(address))) await suppressions.add(db, address, 'unsubscribed')
      return { address: maskEmailAddress(address), is_unsubscribed: true }
    }
  }
}
export type UnsubscribeService = ReturnType<typeof createUnsubscribeService>
