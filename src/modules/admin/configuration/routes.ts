import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { ConfigurationResponse } from './schema.ts'

type Configuration = () => Readonly<Record<string, unknown>>

export function configurationRoutes(tiers: Tiers, configuration: Configuration): void {
  tiers.admin.get(
    '/admin/config',
    {
      config: { class: 'account', wholeShop: true },
      schema: {
        summary: 'The configuration as it counts; secrets are ***',
        response: { 200: ConfigurationResponse }
      }
    },
    async () => ({ config: configuration() })
  )
}
