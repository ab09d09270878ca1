import type { Transaction } from '../../../platform/postgres/database.ts'
import type { TemplateName } from '../templates/definitions.ts'
import type { MessageDraft, QueueMessages } from './service.ts'

type StaffTemplate = Extract<TemplateName, 'low_stock' | 'unpaid_stock' | 'webhooks_off'>
type StaffDraft = Pick<MessageDraft, 'sourceId' | 'data'>
type Deps = {
  queueMessages: QueueMessages
  /** Addresses of `notifications.staff`. */
  addresses: readonly string[]
  isEnabled: (template: TemplateName) => boolean
}

/** Queues mails to the staff of the shop. */
export function createStaffMails({ queueMessages, addresses, isEnabled }: Deps) {
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
      await queueMessages(tx, drafts)
    }
  }
}
export type StaffMails = ReturnType<typeof createStaffMails>
