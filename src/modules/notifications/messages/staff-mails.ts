import type { Transaction } from '../../../platform/postgres/database.ts'
import type { MailTemplateName } from '../templates/definitions.ts'
import type { NotificationDraft, QueueNotifications } from './service.ts'

type StaffTemplate = Extract<MailTemplateName, 'low_stock' | 'unpaid_stock' | 'webhooks_off'>
type StaffDraft = Pick<NotificationDraft, 'sourceId' | 'data'>
type Deps = {
  queueNotifications: QueueNotifications
  /** Addresses of `notifications.staff`. */
  addresses: readonly string[]
  isEnabled: (template: MailTemplateName) => boolean
}

/** Queues mails to the staff of the shop. */
export function createStaffMailQueue({ queueNotifications, addresses, isEnabled }: Deps) {
  const isStaffEnabled = (template: StaffTemplate): boolean => addresses.length > 0 && isEnabled(template)
  return {
    /** Whether staff addresses are configured and the template is not switched off. */
    isEnabled: isStaffEnabled,
    /** Queues one mail for each staff address and source. */
    notify: async (
      tx: Transaction,
      template: StaffTemplate,
      staffDrafts: readonly StaffDraft[]
    ): Promise<void> => {
      if (!isStaffEnabled(template)) return
      const drafts = staffDrafts.flatMap(({ sourceId, data }) =>
        addresses.map(email => ({
          sourceId,
          template,
          data,
          to: { email, name: null, customerId: null, locale: null }
        }))
      )
      await queueNotifications(tx, drafts)
    }
  }
}
export type StaffMailQueue = ReturnType<typeof createStaffMailQueue>
