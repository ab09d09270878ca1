import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { ConfigurationResponse } from './schema.ts'

type Configuration = () => Readonly<Record<string, unknown>>

export function configurationRoutes(tiers: Tiers, configuration: Configuration): void {
  tiers.admin.get(
    '/admin/config',
    {
      config: { class: 'account', requiresFullAccess: true },
      schema: {
        summary: 'Retrieve the effective settings',
        description:
          'Returns the effective settings of the process that responds, from the defaults, the file and the environment. Secrets are replaced by `***`. Needs an administrator with full access.',
        response: { 200: ConfigurationResponse }
      }
    },
    async () => ({ config: configuration() })
  )
}
