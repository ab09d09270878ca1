import type { Database, Platform, TenderProvider, TenderQuery, Transaction } from 'cartwright'
import { giftCardReservationError, giftCardUnknownError } from '../errors.ts'
import { hashesOfCode, labelOf } from './codes.ts'
import type { LimitGuesses } from './guesses.ts'
import * as repository from './repository.ts'

type Deps = {
  db: Database
  secrets: Platform['secrets']
  limitGuesses: LimitGuesses
  refundValidDays: number
}

/** Gift cards as a means of payment. See `TenderProvider` for the promises of each function. */
export function createGiftCardTender({ db, secrets, limitGuesses, refundValidDays }: Deps): TenderProvider {
  /** Returns what a card can cover, in minor units. `id`: the reservation that is not counted. */
  async function coverOf(
    tx: Database | Transaction,
    card: repository.CardRow | undefined,
    { currency, amountMinor }: TenderQuery,
    id: string
  ): Promise<number> {
    if (card === undefined || card.is_expired || card.currency !== currency) throw giftCardUnknownError()
    const sum = await tx.first(repository.sumOtherReservations, { card_id: card.id, id })
    const amount = Math.min(amountMinor, card.balance - (sum?.reserved ?? 0))
    if (amount <= 0) throw giftCardUnknownError()
    return amount
  }

  return {
    preview: query =>
      limitGuesses(query, async () => {
        const card = await db.first(repository.findCard, { hashes: hashesOfCode(secrets, query.code) })
        return {
          amountMinor: await coverOf(db, card, query, card?.id ?? ''),
          label: labelOf(query.code)
        }
      }),
    reserve: query =>
      limitGuesses(query, () =>
        db.transaction(async tx => {
          const { id, seconds, code } = query
          const label = labelOf(code)
          const card = await tx.first(repository.lockCard, { hashes: hashesOfCode(secrets, code) })
          const redeemed = await tx.first(repository.findRedeemedAmount, { id })
          if (redeemed !== undefined) return { amountMinor: redeemed.amount, label }
          const amount = await coverOf(tx, card, query, id)
          await tx.run(repository.saveReservation, { id, card_id: card?.id ?? '', amount, seconds })
          return { amountMinor: amount, label }
        })
      ),
    confirm: async (tx, ids) => {
      await tx.rows(repository.lockCardsOfTenders, { ids })
      const done = await tx.first(repository.redeemReservations, { ids })
      if (done?.redeemed !== ids.length) throw giftCardReservationError()
    },
    release: async (tx, ids) => {
      await tx.run(repository.deleteReservations, { ids })
    },
    refund: async (tx, refunds) => {
      await tx.rows(repository.lockCardsOfTenders, { ids: refunds.map(({ tenderId }) => tenderId) })
      await tx.run(repository.refundToCards, { refunds, valid_days: refundValidDays })
    }
  }
}
