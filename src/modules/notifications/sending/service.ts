import { parseEmail } from '../../../kernel/email.ts'
import { found } from '../../../kernel/errors.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { OrderLetter, OrdersApi } from '../../orders/index.ts'
import * as errors from '../errors.ts'
import { orderOf, recipientOf, shipmentOf } from '../hearing/orders.ts'
import * as repository from '../messages/repository.ts'
import type { NotificationResponse } from '../messages/schema.ts'
import type { Draft, WriteMessages } from '../messages/service.ts'
import { faultsOf, SENDABLE, type SentData } from './data.ts'
import type { SendRequest, SendResponse } from './schema.ts'

type Caller = {
  readonly userId: string
  readonly role: 'customer' | 'admin'
  readonly scopes: readonly string[] | null
}
type Deps = {
  db: Database
  write: WriteMessages
  auth: Pick<AuthApi, 'contacts'> | undefined
  orders: Pick<OrdersApi, 'letters'> | undefined
}

/** Whoever looks after other modules alone asks for themselves, as customers do. */
const looksAfterMails = ({ role, scopes }: Caller): boolean =>
  role === 'admin' && (scopes === null || scopes.includes('notifications'))

/** What somebody asks to be told. */
export function createSending({ db, write: writeMessages, auth, orders }: Deps) {
  /** @throws `NOTIFICATION_ORDER_NOT_FOUND` also when it is another's */
  async function letterOf(orderId: string, caller: Caller): Promise<OrderLetter> {
    const [letter] = (await orders?.letters(db, [orderId])) ?? []
    const isTheirs = letter !== undefined && (looksAfterMails(caller) || letter.customer_id === caller.userId)
    if (!isTheirs) throw errors.orderNotFound()
    return letter
  }

  /** @throws `NOTIFICATION_RECIPIENT_INVALID`, `NOTIFICATION_RECIPIENT_UNKNOWN`, `NOTIFICATION_RECIPIENT_UNVERIFIED` */
  async function recipientFor(caller: Caller, to: string | undefined, letter: OrderLetter | undefined) {
    if (to !== undefined) {
      const email = parseEmail(to)
      if (email === undefined) throw errors.recipientInvalid()
      return { email, name: null, customerId: null, locale: null }
    }
    const [contact] = (await auth?.contacts([caller.userId])) ?? []
    if (contact?.email != null) {
      // Else anybody could have somebody else mailed without end, who never had an account here.
      if (!contact.emailVerified) throw errors.recipientUnverified()
      return {
        ...{ email: contact.email, name: contact.name },
        customerId: contact.id,
        locale: contact.locale
      }
    }
    if (letter === undefined || letter.customer_id !== caller.userId || letter.email === null)
      throw errors.recipientUnknown()
    return recipientOf(letter, [])
  }

  async function draftOf(
    caller: Caller,
    { template, channel = 'email', data = {}, to }: SendRequest
  ): Promise<Omit<Draft, 'id' | 'origin'>> {
    if (to !== undefined && !looksAfterMails(caller)) throw errors.recipientForbidden()
    const need = SENDABLE[template]
    if (need === undefined) throw errors.notSendable({ details: { templates: Object.keys(SENDABLE) } })
    const faults = faultsOf(need, data)
    if (faults.length > 0) throw errors.dataInvalid({ details: { errors: faults } })
    const { order_id, shipment_id } = data as SentData
    const letter = order_id === undefined ? undefined : await letterOf(order_id, caller)
    if (letter !== undefined && need.isSo?.(letter) === false) throw errors.notSo()
    const shipment = letter && shipment_id !== undefined ? shipmentOf(letter, shipment_id) : undefined
    if (shipment_id !== undefined && shipment === undefined) throw errors.orderNotFound()
    const said = { ...(letter && { order: orderOf(letter) }), ...(shipment && { shipment }) }
    return { template, channel, to: await recipientFor(caller, to, letter), data: said }
  }

  return {
    /**
     * @throws `NOTIFICATION_RECIPIENT_FORBIDDEN`, `NOTIFICATION_NOT_SENDABLE`, `NOTIFICATION_DATA_INVALID`,
     * `NOTIFICATION_ORDER_NOT_FOUND`, `NOTIFICATION_NOT_SO`, `NOTIFICATION_RECIPIENT_INVALID`, `NOTIFICATION_RECIPIENT_UNKNOWN`,
     * `NOTIFICATION_RECIPIENT_UNVERIFIED`
     */
    send: async (caller: Caller, body: SendRequest, write: Write): Promise<SendResponse> => {
      const { id } = write
      if (!write.alreadyApplied) {
        const draft = await draftOf(caller, body)
        await write.once(db, tx => writeMessages(tx, [{ id, origin: id, ...draft }]))
      }
      return found(await db.first(repository.findMessage, { id }), errors.recipientUnknown)
    },
    /** What is their own, without what it said. */
    list: (customer_id: string, query: PageQuery): Promise<Page<NotificationResponse>> =>
      readPage(query, {
        name: 'own notifications',
        filters: customer_id,
        ...newestFirst,
        rows: place => db.rows(repository.listOwnMessages, { customer_id, ...place }),
        total: () => db.first(repository.countOwnMessages, { customer_id })
      })
  }
}
export type Sending = ReturnType<typeof createSending>
