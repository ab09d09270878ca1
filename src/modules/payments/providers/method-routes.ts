import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { patternWithMessage } from '../../../kernel/patterns.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { input, response } from '../../../kernel/wire.ts'
import type { PaymentProviderRegistry } from './registry.ts'

const Query = input({
  currency: Type.Optional(
    Type.String({
      ...patternWithMessage('^[A-Z]{3}$', 'must be three capital letters, as in ISO 4217'),
      description: 'Only methods that accept this currency (ISO 4217).'
    })
  )
})
const MethodResponse = response('PaymentMethodResponse', {
  provider: Type.String(),
  method: Type.String(),
  kind: Type.Enum(['redirect', 'client', 'offline'], {
    description:
      '`redirect`: the customer pays at `redirect_url`. `client`: the provider’s script in the shop front takes the `client_secret`. `offline`: show the instructions in `action`.'
  }),
  publishable_key: Type.Optional(
    Type.String({ description: 'Public key for the provider’s script in the browser.' })
  )
})
const MethodsResponse = response('PaymentMethodsResponse', { items: Type.Array(MethodResponse) })

export function paymentMethodRoutes(tiers: Tiers, providers: PaymentProviderRegistry): void {
  tiers.public.get(
    '/payments/methods',
    {
      config: { class: 'browse', cache: 'public' },
      schema: {
        tags: ['payment methods'],
        summary: 'List payment methods',
        description:
          'Returns the payment methods that a shop front can offer, the default provider first. `kind` states how a payment continues after the intent. Needs no token; caches may keep the response.',
        querystring: Query,
        response: { 200: MethodsResponse }
      }
    },
    ({ query: { currency } }) => ({ items: methodsOf(providers, currency) })
  )
}

const methodsOf = (
  providers: PaymentProviderRegistry,
  currency: string | undefined
): Static<typeof MethodResponse>[] =>
  providers
    .offered()
    .filter(name => currency === undefined || providers.get(name).supportsCurrency(currency))
    .flatMap(provider => {
      const { kind, publishableKey } = providers.get(provider)
      return providers.methodsOf(provider).map(method => ({
        provider,
        method,
        kind,
        ...(publishableKey !== undefined && { publishable_key: publishableKey })
      }))
    })
