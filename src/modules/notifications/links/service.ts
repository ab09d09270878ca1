import type { Config } from '../../../config.ts'
import type { NotificationsSettings } from '../settings.ts'

type Named = keyof NotificationsSettings['links']

/** Where links in mails lead. */
export function createLinks(
  { environment, server }: Pick<Config, 'environment' | 'server'>,
  { storefront_url, links }: Pick<NotificationsSettings, 'storefront_url' | 'links'>
) {
  const base = baseOf(environment, server, storefront_url)
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
  if (given !== '') return given.replace(/\/+$/, '')
  return environment === 'development' ? `http://127.0.0.1:${server.port}/shop` : ''
}
