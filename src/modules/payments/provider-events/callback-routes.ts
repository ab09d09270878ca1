import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { Type } from '../../../kernel/schema.ts'
import { input, response, withResponseDescription } from '../../../kernel/wire.ts'
import type { PaymentCallbackService } from './callback-service.ts'

const ReceivedResponse = response('PaymentCallbackResponse', { received: Type.Literal(true) })

export function paymentCallbackRoutes(tiers: Tiers, callbacks: PaymentCallbackService): void {
  tiers.public.post(
    '/payments/callback/:provider',
    {
      config: {
        allowedInMaintenance: 'a payment is recorded even while the shop is in maintenance',
        class: 'checkout',
        body: 'bytes',
        noReplay: 'an event is stored once, by the id that the provider gave it'
      },
      schema: {
        tags: ['payment callbacks'],
        summary: 'Receive a provider callback',
        description:
          'Receives a webhook of a payment provider. Only providers call it: enter its URL in their dashboard. The signed event is stored once by its id and acknowledged with 200. It is applied before that, or afterwards when its payment is not known yet. An event that cannot be applied is quarantined for an administrator. 400 `PAYMENT_CALLBACK_REFUSED`: the signature is missing, wrong or older than five minutes; check the webhook secret.',
        params: input({ provider: Type.String({ minLength: 1, maxLength: 64 }) }),
        response: {
          200: withResponseDescription(ReceivedResponse, 'The event is stored, even if it was stored before.')
        }
      }
    },
    ({ params, body, headers }) => callbacks.receive({ provider: params.provider, raw: body, headers })
  )
}
