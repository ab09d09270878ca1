import {
  type Database,
  derivedId,
  type Enqueue,
  type NotificationsApi,
  type OrdersApi,
  type Platform,
  type Transaction
} from 'cartwright'
import { drawCode, hashCode, labelOf } from './codes.ts'
import { mailCodeJob } from './jobs.ts'
import * as repository from './repository.ts'

const CODE_PURPOSE = 'gift_cards.unsent_code'

type Deps = {
  db: Database
  enqueue: Enqueue
  secrets: Platform['secrets']
  orders: OrdersApi
  notifications: NotificationsApi | undefined
  /** What a card of each SKU is worth. */
  worthOfSku: ReadonlyMap<string, number>
  validDays: number
}

/** Issues the gift cards of paid orders and mails their codes. */
export function createCardIssuer({
  db,
  enqueue,
  secrets,
  orders,
  notifications,
  worthOfSku,
  validDays
}: Deps) {
  function newCard(id: string, order: { id: string; currency: string }, worth: number): repository.NewCard {
    const code = drawCode()
    return {
      id,
      code_hash: hashCode(secrets, code),
      sealed_code: secrets.seal(CODE_PURPOSE, Buffer.from(code)).toString('base64'),
      label: labelOf(code),
      currency: order.currency,
      worth,
      order_id: order.id
    }
  }

  return {
    /** Issues a card for each unit of a gift card in these orders that are paid. Each unit has one card, however often it runs. */
    issue: async (tx: Transaction, orderIds: readonly string[]): Promise<void> => {
      const summaries = await orders.orderSummaries(tx, orderIds)
      const paid = summaries.filter(
        ({ state, payment_status }) => state !== 'canceled' && payment_status === 'paid'
      )
      const cards = paid.flatMap(order =>
        order.lines.flatMap(({ line, sku, quantity }) => {
          const worth = worthOfSku.get(sku)
          return worth === undefined
            ? []
            : Array.from({ length: quantity }, (_, unit) =>
                newCard(derivedId(order.id, `gift card ${line}.${unit}`), order, worth)
              )
        })
      )
      if (cards.length === 0) return
      for (const { id } of await tx.rows(repository.insertCards, { cards, valid_days: validDays }))
        enqueue(tx, mailCodeJob, { card_id: id }, { subject: id })
    },

    /** Voids what is left on the cards of canceled orders. */
    void: async (tx: Transaction, order_ids: readonly string[]): Promise<void> => {
      await tx.run(repository.voidCardsOfOrders, { order_ids })
    },

    /** Mails the code of a card, and forgets it. A mail that was sent twice has the same id, so mail programs show it once. */
    mailCode: async (cardId: string): Promise<void> => {
      const card = await db.first(repository.findUnsentCode, { id: cardId })
      if (card === undefined || card.sealed_code === null) return
      const [order] = await orders.orderSummaries(db, [card.order_id])
      const code = secrets.open(CODE_PURPOSE, card.sealed_code)?.toString()
      if (order?.email == null || code === undefined || notifications === undefined)
        throw new Error(
          `the code of gift card ${cardId} cannot be mailed: no address, no key or no notifications`
        )
      const isSent = await notifications.send({
        id: cardId,
        kind: 'gift_cards.code',
        to: { email: order.email, name: order.name },
        subject: 'Your gift card',
        text: [
          `Your gift card: ${code}`,
          `It is worth ${formatAmount(card.balance, card.currency)} and valid until ${card.expires_at.toISOString().slice(0, 10)}.`,
          'Enter the code when you pay. We cannot show it again, so keep this mail.'
        ].join('\n\n')
      })
      if (!isSent) throw new Error(`no mail can be sent to the buyer of gift card ${cardId}`)
      await db.run(repository.forgetCode, { id: cardId })
    }
  }
}

function formatAmount(minor: number, currency: string): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  return format.format(minor / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2))
}
