import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { response } from '../../../kernel/wire.ts'

const PaymentReconciliationResponse = response('PaymentReconciliationResponse', {
  providers: Type.Array(
    response('PaymentProviderResponse', {
      name: Type.String(),
      is_down: Type.Boolean({
        description: 'Whether recent requests to the provider failed several times in a row.'
      })
    })
  ),
  open_operations: Type.Integer({ description: 'Operations without a result.' }),
  oldest_seconds: Type.Number({
    description: 'Age of the oldest open operation, in seconds. 0: none is open.'
  }),
  events: Type.Object({
    received: Type.Integer({ description: 'Events whose payment is not known yet.' }),
    quarantined: Type.Integer({ description: 'Events that wait for a decision of an administrator.' })
  })
})
export type PaymentReconciliationResponse = Static<typeof PaymentReconciliationResponse>

const config = { class: 'account' } as const

export function paymentReconciliationRoutes(
  tiers: Tiers,
  status: () => Promise<PaymentReconciliationResponse>
): void {
  tiers.admin.get(
    '/admin/payments/reconciliation',
    {
      config,
      schema: {
        summary: 'Retrieve the reconciliation status',
        description:
          'Returns how many operations are open, how many events wait or are quarantined, and which providers do not respond. All counts are zero when the shop and its providers agree.',
        response: { 200: PaymentReconciliationResponse }
      }
    },
    status
  )
}
