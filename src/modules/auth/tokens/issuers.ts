import type { AuthSettings } from '../settings.ts'
import { createExternalTokens } from './external-tokens.ts'
import { createIssuerKeys, type IssuerKeysDeps } from './issuer-keys.ts'

const ISSUER_COOLDOWN_MS = 30_000

/** Creates the verifiers of external issuers, by issuer. */
export function openIssuers(issuers: AuthSettings['issuers'], deps: Pick<IssuerKeysDeps, 'http' | 'signal'>) {
  return new Map(
    issuers.map(settings => {
      const keyFor = createIssuerKeys({
        ...deps,
        issuer: settings.issuer,
        cooldownMs: ISSUER_COOLDOWN_MS
      })
      return [settings.issuer, createExternalTokens(settings, keyFor)]
    })
  )
}
