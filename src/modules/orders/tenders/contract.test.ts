import { test } from 'vitest'
import { createGiftCardTender } from '../../../../examples/gift-cards/gift-cards/cards/tender.ts'
import { giftCardsModule } from '../../../../examples/gift-cards/gift-cards/index.ts'
import { CHECKOUT_MODULES } from '../../../../test/support/checkouts.ts'
import { giftCardsIn } from '../../../../test/support/gift-cards.ts'
import { testSecrets } from '../../../../test/support/secrets.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { tenderContract } from '../../../testing.ts'

test('the gift cards of the example keep the contract of a tender provider', async () => {
  const { db, sql } = await useShop({ modules: [...CHECKOUT_MODULES, giftCardsModule] })
  const provider = createGiftCardTender({
    db,
    secrets: testSecrets(),
    limitGuesses: (_query, lookUp) => lookUp(),
    refundValidDays: 90
  })
  const subject = { ...giftCardsIn(sql), provider, db, currency: 'USD', otherCurrency: 'EUR' }
  for (const { name, run } of tenderContract(subject))
    await run().catch(error => {
      throw new Error(name, { cause: error })
    })
})
