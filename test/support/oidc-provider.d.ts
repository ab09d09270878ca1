// The package has no types of its own; this is the part of it that `issuer.ts` uses.
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  type IdToken = {
    scope: string
    set(claim: string, value: unknown): void
    issue(options: { use: 'idtoken' }): Promise<string>
  }
  type GrantContext = { body: unknown; oidc: { client: unknown } }

  export class Provider {
    constructor(issuer: string, configuration: object)
    callback(): RequestListener
    registerGrantType(name: string, handler: (ctx: GrantContext) => Promise<void>, parameters: string[]): void
    IdToken: new (
      claims: object,
      context: { ctx: GrantContext }
    ) => IdToken
  }
}

declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  const MemoryAdapter: new (name: string) => object
  export = MemoryAdapter
}
