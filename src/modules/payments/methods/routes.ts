import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { matching } from '../../../kernel/patterns.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { input, response } from '../../../kernel/wire.ts'
import type { Providers } from '../providers/registry.ts'

const Query = input({
  currency: Type.Optional(
    Type.String({
      ...matching('^[A-Z]{3}$', 'must be three capital letters, as in ISO 4217'),
      description: 'Those alone that can be paid in it; ISO 4217.'
    })
  )
})
const MethodResponse = response('PaymentMethodResponse', {
  provider: Type.String(),
  method: Type.String(),
  kind: Type.Enum(['redirect', 'client', 'offline'], {
    description:
      "redirect: the customer pays at `redirect_url` of the payment. client: in the shop front, by the provider's own code and `client_secret`. offline: as `action` says."
  }),
  publishable_key: Type.Optional(Type.String({ description: "For the provider's code in a browser." }))
})
const MethodsResponse = response('PaymentMethodsResponse', { items: Type.Array(MethodResponse) })

export function methodRoutes(tiers: Tiers, providers: Providers): void {
  tiers.public.get(
    '/payments/methods',
    {
      config: { class: 'browse', cache: 'public' },
      schema: {
        tags: ['payment methods'],
        summary: 'How orders can be paid, the usual way first',
        querystring: Query,
        response: { 200: MethodsResponse }
      }
    },
    ({ query: { currency } }) => ({ items: methodsOf(providers, currency) })
  )
}

const methodsOf = (providers: Providers, currency: string | undefined): Static<typeof MethodResponse>[] =>
  providers.names
    .map(providers.get)
    .filter(({ takes }) => currency === undefined || takes(currency))
    .flatMap(({ name: provider, methods, kind, publishableKey }) =>
      methods.map(method => ({
        ...{ provider, method, kind },
        ...(publishableKey !== undefined && { publishable_key: publishableKey })
      }))
    )
