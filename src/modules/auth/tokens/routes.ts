import type { Tiers } from '../../../gateway/routing/tiers.ts'
import * as schema from '../users/schema.ts'
import type { SigningKeyStore } from './signing-keys.ts'

/** Mounts the public keys at their well-known URI (RFC 7517; RFC 8615). */
export function jwksRoutes(tiers: Tiers, published: SigningKeyStore['published']): void {
  tiers.wellKnown.get(
    '/.well-known/jwks.json',
    {
      config: { class: 'browse', cache: 'public' },
      schema: {
        summary: 'List public keys',
        description:
          'Returns the keys that verify access tokens of this shop, as a JSON Web Key Set (RFC 7517). Caches ' +
          'can keep the response for five minutes.',
        response: { 200: schema.JwksResponse }
      }
    },
    (_request, reply) => {
      reply.header('cache-control', 'public, max-age=300')
      return published()
    }
  )
}
