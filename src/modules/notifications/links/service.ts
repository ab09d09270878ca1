import type { Config } from '../../../config.ts'
import { OperatorError } from '../../../kernel/errors.ts'
import type { NotificationsSettings } from '../settings.ts'

type Named = keyof NotificationsSettings['links']

/** Where links in mails lead. @throws OperatorError when one would show a token to servers on the way. */
export function createLinks(
  { environment, server }: Pick<Config, 'environment' | 'server'>,
  { storefront_url, links }: Pick<NotificationsSettings, 'storefront_url' | 'links'>
) {
  const base = baseOf(environment, server, storefront_url)
  const { order, guest_order, verify_email, reset_password, guest_data } = links
  for (const [name, link] of Object.entries({ guest_order, verify_email, reset_password, guest_data }))
    if (!/#.*\{token\}/.test(link))
      throw new OperatorError(`notifications.links.${name}: has to hold {token} behind a #.`)
  for (const [name, link] of Object.entries({ order, guest_order }))
    if (!link.includes('{id}')) throw new OperatorError(`notifications.links.${name}: has to hold {id}.`)

  return {
    base,
    /** Empty where nobody knows the address of the shop front. */
    to: (name: Named, { id = '', token = '' }: { id?: string; token?: string }): string =>
      base === ''
        ? ''
        : base +
          links[name].replace('{id}', encodeURIComponent(id)).replace('{token}', encodeURIComponent(token))
  }
}
export type Links = ReturnType<typeof createLinks>

function baseOf(environment: string, server: Config['server'], storefrontUrl: string): string {
  const given = storefrontUrl !== '' ? storefrontUrl : server.public_url
  const url = URL.parse(given)
  if (url !== null && /^https?:$/.test(url.protocol)) return given.replace(/\/+$/, '')
  if (storefrontUrl !== '')
    throw new OperatorError('notifications.storefront_url: must look like https://shop.example.com.')
  return environment === 'development' ? `http://127.0.0.1:${server.port}/shop` : ''
}
