import type { Transaction } from '../../../platform/postgres/database.ts'
import type { TemplateName } from '../templates/catalogue.ts'
import type { Draft, WriteMessages } from './service.ts'

/** What those are told who look after the shop. */
type StaffTemplate = Extract<TemplateName, 'low_stock' | 'unpaid_stock' | 'webhooks_off'>
type Deps = {
  write: WriteMessages
  addresses: readonly string[]
  isOn: (template: TemplateName) => boolean
}

/** Tells those who look after the shop. */
export function createStaff({ write, addresses, isOn }: Deps) {
  const isTold = (template: StaffTemplate): boolean => addresses.length > 0 && isOn(template)
  return {
    /** Whether anybody is. */
    isTold,
    /** All of them, once of each origin. */
    tell: async (
      tx: Transaction,
      template: StaffTemplate,
      told: readonly Pick<Draft, 'origin' | 'data'>[]
    ): Promise<void> => {
      if (!isTold(template)) return
      const drafts = told.flatMap(({ origin, data }) =>
        addresses.map(email => ({
          ...{ origin, template, data },
          to: { email, name: null, customerId: null, locale: null }
        }))
      )
      await write(tx, drafts)
    }
  }
}
export type Staff = ReturnType<typeof createStaff>
