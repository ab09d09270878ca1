import type { Config } from '../../../platform/core-settings.ts'
import type { NotificationsSettings } from '../settings.ts'

type LinkName = keyof NotificationsSettings['links']

/** Builds the links of mails to pages of the storefront. */
export function createStorefrontLinks(
  { environment, server }: Pick<Config, 'environment' | 'server'>,
  { storefront_url, links }: Pick<NotificationsSettings, 'storefront_url' | 'links'>
) {
  const base = baseOf(environment, server, storefront_url)
  return {
    base,
    /** Returns '' when the URL of the storefront is not configured. */
    urlFor: (name: LinkName, { id = '', token = '' }: { id?: string; token?: string }): string =>
      base === ''
        ? ''
        : base +
          links[name].replace('{id}', encodeURIComponent(id)).replace('{token}', encodeURIComponent(token))
  }
}
export type StorefrontLinks = ReturnType<typeof createStorefrontLinks>

function baseOf(environment: string, server: Config['server'], storefrontUrl: string): string {
  const configured = storefrontUrl !== '' ? storefrontUrl : server.public_url
  if (configured !== '') return configured.replace(/\/+$/, '')
  return environment === 'development' ? `http://127.0.0.1:${server.port}/shop` : ''
}
