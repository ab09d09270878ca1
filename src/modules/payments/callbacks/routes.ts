import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { Type } from '../../../kernel/schema.ts'
import { input, response } from '../../../kernel/wire.ts'
import type { CallbackService } from './service.ts'

const ReceivedResponse = response('PaymentCallbackResponse', { received: Type.Literal(true) })

export function callbackRoutes(tiers: Tiers, callbacks: CallbackService): void {
  tiers.public.post(
    '/payments/callback/:provider',
    {
      config: {
        inMaintenance: 'what was paid is known, whatever the shop does',
        class: 'checkout',
        body: 'bytes',
        unwritten: 'An event is kept once by the id that the provider gave it.'
      },
      schema: {
        tags: ['payment callbacks'],
        summary: 'What a payment provider calls back with',
        params: input({ provider: Type.String({ minLength: 1, maxLength: 64 }) }),
        response: { 200: ReceivedResponse }
      }
    },
    ({ params, body, headers }) => callbacks.receive({ provider: params.provider, raw: body, headers })
  )
}
