import type { AuthSettings } from '../settings.ts'
import { createExternalTokenVerifier } from './external-tokens.ts'
import { createIssuerKeyLoader, type IssuerKeysDeps } from './issuer-keys.ts'

const ISSUER_COOLDOWN_MS = 30_000

/** Creates the verifiers of external issuers, by issuer. */
export function createIssuerVerifiers(
  issuers: AuthSettings['issuers'],
  deps: Pick<IssuerKeysDeps, 'http' | 'signal'>
) {
  return new Map(
    issuers.map(settings => {
      const keyFor = createIssuerKeyLoader({
        ...deps,
        issuer: settings.issuer,
        cooldownMs: ISSUER_COOLDOWN_MS
      })
      return [settings.issuer, createExternalTokenVerifier(settings, keyFor)]
    })
  )
}
