import { OperatorError } from '../../../kernel/errors.ts'
import type { AuthSettings } from '../settings.ts'
import { createExternalTokens } from './external-tokens.ts'
import { createIssuerKeys, type IssuerKeysDeps } from './issuer-keys.ts'

const ISSUER_COOLDOWN_MS = 30_000

/** The issuers beside the shop itself, by their names. @throws OperatorError when two issuers, ours among them, could not be told apart. */
export function openIssuers(
  issuers: AuthSettings['issuers'],
  ownIssuer: string,
  deps: Pick<IssuerKeysDeps, 'http' | 'signal'>
) {
  const names = [ownIssuer, ...issuers.map(each => each.issuer)]
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) {
    throw new OperatorError(
      `auth.issuers: ${twice} is there twice, or is server.public_url itself; each issuer needs a name of its own.`
    )
  }
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
