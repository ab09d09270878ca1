import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { GuestDataErasedResponse, GuestDataExportResponse, GuestDataRequest } from './schema.ts'
import type { GuestData } from './service.ts'

const tags = ['guest orders']

export function guestDataRoutes(tiers: Tiers, guestData: GuestData): void {
  tiers.admin.post(
    '/admin/orders/guest-data/erase',
    {
      config: { class: 'account', unversioned: true },
      schema: {
        tags,
        summary: "Erase a guest's data",
        description:
          'Erases who ordered from one order of a guest, or from all orders of guests with an e-mail address. Amounts, taxes, country and region stay. 409 ORDER_STILL_OPEN: nothing was erased; complete or cancel the orders in `numbers` first.',
        body: GuestDataRequest,
        response: { 200: GuestDataErasedResponse }
      }
    },
    request => guestData.erase(request.body, writeOf(request))
  )

  tiers.admin.post(
    '/admin/orders/guest-data/export',
    {
      config: { class: 'account', unwritten: 'it changes nothing' },
      schema: {
        tags,
        summary: "Export a guest's data",
        description:
          'Returns what the shop keeps of a guest: by one order, or by all orders of guests with an e-mail address. Make sure that the address is theirs before you hand it out.',
        body: GuestDataRequest,
        response: { 200: GuestDataExportResponse }
      }
    },
    request => guestData.export(request.body)
  )
}
