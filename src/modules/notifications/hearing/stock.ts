import { parseEmail } from '../../../kernel/email.ts'
import { OperatorError } from '../../../kernel/errors.ts'
import type { Delivery } from '../../../kernel/events.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { CatalogApi } from '../../catalog/index.ts'
import type { Draft, WriteMessages } from '../messages/service.ts'
import type { TemplateName } from '../templates/catalogue.ts'

type Crossed = {
  readonly variant_ids: readonly string[]
  readonly available: number | null
  readonly status: 'out' | 'low' | 'in' | 'untracked'
}
type Deps = {
  catalog: Pick<CatalogApi, 'quote'> | undefined
  write: WriteMessages
  staff: readonly string[]
  isOn: (template: TemplateName) => boolean
}

const template = 'low_stock'

/** @throws OperatorError when one of them is no address. */
export function checkStaff(staff: readonly string[]): void {
  if (staff.some(each => parseEmail(each) === undefined))
    throw new OperatorError('notifications.staff: each must be an e-mail address such as ops@example.com.')
}

/** Tells those who look after the shop when something runs low, or out. */
export function createStockHearing({ catalog, write, staff, isOn }: Deps) {
  return {
    'inventory.crossed': async (tx: Transaction, events: readonly Delivery<Crossed>[]): Promise<void> => {
      if (catalog === undefined || staff.length === 0 || !isOn(template)) return
      const told = events.filter(({ payload: { status } }) => status === 'low' || status === 'out')
      const ids = [...new Set(told.flatMap(({ payload }) => payload.variant_ids))]
      if (ids.length === 0) return
      const wanted = ids.map(variantId => ({ variantId, quantity: 1 }))
      const known = (await catalog.quote(tx, wanted, null)).flatMap(variant => variant ?? [])
      const drafts = told.flatMap(({ id: origin, payload: { variant_ids, status, available } }): Draft[] => {
        const variants = known
          .filter(({ variantId }) => variant_ids.includes(variantId))
          .map(({ sku, name, variantName }) => ({
            sku,
            name: variantName === '' ? name : `${name}, ${variantName}`
          }))
        // All of it is gone from the catalog: nobody has to order more.
        if (variants.length === 0) return []
        const data = { status, available: available ?? 0, variants }
        return staff.map(email => ({
          ...{ origin, template, data },
          to: { email, name: null, customerId: null, locale: null }
        }))
      })
      await write(tx, drafts)
    }
  }
}
