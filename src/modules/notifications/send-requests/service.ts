import { parseEmail } from '../../../kernel/email.ts'
import { found } from '../../../kernel/errors.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { OrderMessageSummary, OrdersApi } from '../../orders/index.ts'
import * as errors from '../errors.ts'
import * as repository from '../messages/repository.ts'
import type { NotificationResponse } from '../messages/schema.ts'
import type { NotificationDraft, QueueNotifications } from '../messages/service.ts'
import { orderMailRecipient, orderMailVariables, shipmentMailVariables } from '../subscribers/orders.ts'
import type { SendNotificationRequest, SendNotificationResponse } from './schema.ts'
import {
  SENDABLE_MAIL_TEMPLATES,
  type SendNotificationRequestData,
  validateNotificationData
} from './sendable-templates.ts'

type Caller = {
  readonly userId: string
  readonly role: 'customer' | 'admin'
  readonly scopes: readonly string[] | null
}
type Deps = {
  db: Database
  queueNotifications: QueueNotifications
  auth: Pick<AuthApi, 'contacts'> | undefined
  orders: Pick<OrdersApi, 'orderSummaries'> | undefined
}

/** Administrators without access to notifications have the rights of customers here. */
const canManageNotifications = ({ role, scopes }: Caller): boolean =>
  role === 'admin' && (scopes === null || scopes.includes('notifications'))

/** Sends notifications that customers and administrators request, and lists those of a customer. */
export function createNotificationRequestService({ db, queueNotifications, auth, orders }: Deps) {
  /** @throws `NOTIFICATION_ORDER_NOT_FOUND` also for an order of another customer */
  async function readOrder(orderId: string, caller: Caller): Promise<OrderMessageSummary> {
    const [summary] = (await orders?.orderSummaries(db, [orderId])) ?? []
    const isAllowed =
      summary !== undefined && (canManageNotifications(caller) || summary.customer_id === caller.userId)
    if (!isAllowed) throw errors.notificationOrderNotFoundError()
    return summary
  }

  /** @throws `NOTIFICATION_RECIPIENT_INVALID`, `NOTIFICATION_RECIPIENT_UNKNOWN`, `NOTIFICATION_RECIPIENT_UNVERIFIED` */
  async function recipientFor(
    caller: Caller,
    to: string | undefined,
    order: OrderMessageSummary | undefined
  ) {
    if (to !== undefined) {
      const email = parseEmail(to)
      if (email === undefined) throw errors.notificationRecipientInvalidError()
      return { email, name: null, customerId: null, locale: null }
    }
    const [contact] = (await auth?.contacts([caller.userId])) ?? []
    if (contact?.email != null) {
      // Only verified addresses get requested mails. Otherwise an attacker could register with a victim's
      // address and flood it with mails.
      if (!contact.emailVerified) throw errors.notificationRecipientUnverifiedError()
      return { email: contact.email, name: contact.name, customerId: contact.id, locale: contact.locale }
    }
    if (order === undefined || order.customer_id !== caller.userId || order.email === null)
      throw errors.notificationRecipientUnknownError()
    return orderMailRecipient(order, [])
  }

  async function draftOf(
    caller: Caller,
    { template, channel = 'email', data = {}, to }: SendNotificationRequest
  ): Promise<Omit<NotificationDraft, 'id' | 'sourceId'>> {
    if (to !== undefined && !canManageNotifications(caller))
      throw errors.notificationRecipientForbiddenError()
    const sendable = SENDABLE_MAIL_TEMPLATES[template]
    if (sendable === undefined)
      throw errors.templateNotSendableError({ details: { templates: Object.keys(SENDABLE_MAIL_TEMPLATES) } })
    const faults = validateNotificationData(sendable, data)
    if (faults.length > 0) throw errors.notificationDataInvalidError({ details: { errors: faults } })
    const { order_id, shipment_id } = data as SendNotificationRequestData
    const order = order_id === undefined ? undefined : await readOrder(order_id, caller)
    if (order !== undefined && sendable.matchesOrder?.(order) === false)
      throw errors.notificationOrderStatusMismatchError()
    const shipment =
      order && shipment_id !== undefined ? shipmentMailVariables(order, shipment_id) : undefined
    if (shipment_id !== undefined && shipment === undefined) throw errors.notificationOrderNotFoundError()
    const variables = {
      ...(order && { order: orderMailVariables(order) }),
      ...(shipment && { shipment })
    }
    return { template, channel, to: await recipientFor(caller, to, order), data: variables }
  }

  return {
    /**
     * @throws `NOTIFICATION_RECIPIENT_FORBIDDEN`, `NOTIFICATION_NOT_SENDABLE`, `NOTIFICATION_DATA_INVALID`,
     * `NOTIFICATION_ORDER_NOT_FOUND`, `NOTIFICATION_NOT_SO`, `NOTIFICATION_RECIPIENT_INVALID`, `NOTIFICATION_RECIPIENT_UNKNOWN`,
     * `NOTIFICATION_RECIPIENT_UNVERIFIED`
     */
    send: async (
      caller: Caller,
      body: SendNotificationRequest,
      write: IdempotentWrite
    ): Promise<SendNotificationResponse> => {
      const { id } = write
      if (!write.alreadyApplied) {
        const draft = await draftOf(caller, body)
        await write.once(db, tx => queueNotifications(tx, [{ id, sourceId: id, ...draft }]))
      }
      return found(
        await db.first(repository.findNotification, { id }),
        errors.notificationRecipientUnknownError
      )
    },
    /** Lists the notifications of a customer, without their content. */
    list: (customer_id: string, query: PageQuery): Promise<Page<NotificationResponse>> =>
      readPage(query, {
        name: 'own notifications',
        filters: customer_id,
        ...newestFirst,
        rows: place => db.rows(repository.listNotificationsOfUser, { customer_id, ...place }),
        total: () => db.first(repository.countNotificationsOfUser, { customer_id })
      })
  }
}
export type NotificationRequestService = ReturnType<typeof createNotificationRequestService>
