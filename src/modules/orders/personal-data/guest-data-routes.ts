import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { GuestDataErasedResponse, GuestDataExportResponse, GuestDataRequest } from './guest-data-schema.ts'
import type { GuestDataService } from './guest-data-service.ts'

const tags = ['guest orders']

export function guestDataRoutes(tiers: Tiers, guestData: GuestDataService): void {
  tiers.admin.post(
    '/admin/orders/guest-data/erase',
    {
      config: { class: 'account', unversioned: true },
      schema: {
        tags,
        summary: "Erase a guest's data",
        description:
          'Erases the personal data of one guest order, or of all guest orders with an email address. Amounts, taxes, country and region stay. Returns the orders whose data was erased. 400 `ORDER_GUEST_DATA_UNCLEAR`: send either `order_id` or `email`. 409 `ORDER_HAS_ACCOUNT`: erase the account instead. 409 `ORDER_STILL_OPEN`: nothing was erased; complete or cancel the orders in `numbers` first.',
        body: GuestDataRequest,
        response: { 200: GuestDataErasedResponse }
      }
    },
    request => guestData.erase(request.body, writeOf(request))
  )

  tiers.admin.post(
    '/admin/orders/guest-data/export',
    {
      config: { class: 'account', noReplay: 'it changes nothing' },
      schema: {
        tags,
        summary: "Export a guest's data",
        description:
          'Returns the personal data of one guest order, or of all guest orders with an email address, by module. Verify that the address belongs to the guest before you hand the data out. 400 `ORDER_GUEST_DATA_UNCLEAR`: send either `order_id` or `email`. 409 `ORDER_HAS_ACCOUNT`: export the account instead.',
        body: GuestDataRequest,
        response: { 200: GuestDataExportResponse }
      }
    },
    request => guestData.export(request.body)
  )
}
