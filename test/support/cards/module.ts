import { defineError } from '../../../src/kernel/errors.ts'
import { newId } from '../../../src/kernel/ids.ts'
import { provide } from '../../../src/kernel/ports.ts'
import { defineModule, type ModulePlatform } from '../../../src/module.ts'
import {
  ordersModule,
  type TenderProvider,
  type TenderQuery,
  tenderPort
} from '../../../src/modules/orders/index.ts'
import * as repository from './repository.ts'

const cardUnknownError = defineError('conflict', 'CARD_UNKNOWN', 'The card does not exist. Check its code.')
const cardExpiredError = defineError(
  'conflict',
  'CARD_RESERVATION_EXPIRED',
  'The reservation has expired. Try again.'
)

const labelOf = ({ code }: TenderQuery) => `•••• ${code.slice(-4)}`

/** Cards with a balance that cover orders, as a module in another repository would provide them. */
const createCardProvider = ({ db }: Pick<ModulePlatform, 'db'>): TenderProvider => ({
  preview: async query => {
    const card = await db.first(repository.findCard, query)
    if (card?.currency !== query.currency) throw cardUnknownError()
    const sums = await db.first(repository.sumReserved, { card_id: card.id, id: card.id })
    const available = card.balance - (sums?.reserved ?? 0)
    return { amountMinor: Math.min(available, query.amountMinor), label: labelOf(query) }
  },
  reserve: query =>
    db.transaction(async tx => {
      const { id, seconds } = query
      const label = labelOf(query)
      const card = await tx.first(repository.lockCard, query)
      if (card?.currency !== query.currency) throw cardUnknownError()
      const confirmed = await tx.first(repository.findConfirmedUse, { id })
      if (confirmed !== undefined) return { amountMinor: confirmed.amount, label }
      const sums = await tx.first(repository.sumReserved, { card_id: card.id, id })
      const amount = Math.min(query.amountMinor, card.balance - (sums?.reserved ?? 0))
      await tx.run(repository.saveReservation, { id, card_id: card.id, amount, seconds })
      return { amountMinor: amount, label }
    }),
  confirm: async (tx, ids) => {
    await tx.rows(repository.lockCardsOfUses, { ids })
    const done = await tx.first(repository.confirmUses, { ids })
    if (done?.confirmed !== ids.length) throw cardExpiredError()
  },
  release: async (tx, ids) => {
    await tx.run(repository.deleteReservations, { ids })
  },
  refund: async (tx, refunds) => {
    await tx.rows(repository.lockCardsOfUses, { ids: refunds.map(({ tenderId }) => tenderId) })
    await tx.run(repository.insertRefunds, { refunds })
  }
})

export const cardsModule = defineModule({
  name: 'cards',
  description: 'Cards with a balance.',
  basePaths: [],
  requires: { orders: ordersModule },
  uses: {},
  provides: [tenderPort],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: 'a card names no person',
  setup: async platform => {
    const provider = createCardProvider(platform)
    return {
      api: {
        provider,
        issue: async (amount: number, currency = 'USD'): Promise<string> => {
          const code = `CARD-${newId()}`
          await platform.db.run(repository.insertCard, { id: newId(), code, currency, amount })
          return code
        },
        balanceOf: async (code: string): Promise<number> =>
          (await platform.db.first(repository.findCard, { code }))?.balance ?? 0
      },
      provides: [provide(tenderPort, 'card', provider)]
    }
  }
})
