import { test } from 'vitest'
import { cardsModule } from '../../../../test/support/cards/module.ts'
import { CHECKOUT_MODULES } from '../../../../test/support/checkouts.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { tenderContract } from '../../../testing.ts'

test('the cards of the tests keep the contract of a tender provider', async () => {
  const shop = await useShop({ modules: [...CHECKOUT_MODULES, cardsModule] })
  const cards = shop.apiOf(cardsModule)
  if (cards === undefined) throw new Error('the module is disabled')
  const cases = tenderContract({ ...cards, db: shop.db, currency: 'USD', otherCurrency: 'EUR' })
  for (const { name, run } of cases)
    await run().catch(error => {
      throw new Error(name, { cause: error })
    })
})
