import { type Static, Type } from '../../../kernel/schema.ts'
import { amount, Currency, response } from '../../../kernel/wire.ts'

export const TenderPreviewResponse = response('TenderPreviewResponse', {
  currency: Currency,
  total: amount('The total of the checkout'),
  tenders: Type.Array(
    Type.Object({
      type: Type.String({ description: 'The type of the tender, such as `gift_card`.' }),
      label: Type.String({ description: 'What people recognize it by, such as the end of its code.' }),
      amount: amount('What it would cover of the total')
    }),
    {
      description:
        'The tenders that would be used. One that is not needed, because others cover the total, is left out.'
    }
  ),
  due: amount('What is left of the total for a payment')
})
export type TenderPreviewResponse = Static<typeof TenderPreviewResponse>
