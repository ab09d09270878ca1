import { newId } from '../../src/kernel/ids.ts'
import { defineModule, type Module } from '../../src/module.ts'
import { fakeCatalog } from '../../src/modules/catalog/fake.ts'
import {
  type ShippingApi,
  shipmentCorrectedEvent,
  shipmentDeliveredEvent,
  shipmentReturnedEvent,
  shippingModule
} from '../../src/modules/shipping/index.ts'
import { customer } from '../../src/testing.ts'
import { deleteAll } from './delete-all.ts'
import { openShared } from './shared-shops.ts'
import { useShop } from './use-shop.ts'

const withCatalog = () => ({ catalog: fakeCatalog() })

/** Starts a shop with the module shipping for one test, or shared. The test defines the catalog. */
export async function useShipping({
  databaseUrl,
  catalog: given,
  others = [],
  settings = {}
}: {
  databaseUrl?: string
  catalog?: ReturnType<typeof fakeCatalog>
  others?: readonly Module[]
  settings?: Readonly<Record<string, string>>
} = {}) {
  const modules = [shippingModule, ...others]
  const instead = given === undefined ? withCatalog : { catalog: given }
  const shop = await useShop({ modules, instead, settings, databaseUrl })
  const { catalog } = shop.instead
  const admin = shop.as({ token: 'admin' })
  const made = async (path: string, body: object) => {
    const { status, json, text } = await admin.post(`/api/admin/shipping/${path}`, body)
    if (status !== 201) throw new Error(text)
    return json
  }
  /** The shipping options that a shopper gets. */
  const ask = (body: object) => shop.as(null).post('/api/shipping/rates', body)
  return { ...shop, catalog, admin, made, ask }
}

/** Starts the same shop without zones and methods: deletes those that earlier tests of a shared shop made. */
export async function useEmptyShipping() {
  const shop = await useShipping()
  for (const name of ['zones', 'methods']) await deleteAll(shop.admin, `/api/admin/shipping/${name}`)
  return shop
}

const POST = {
  id: 'post',
  method: 'shipping',
  provider: 'Parcel Post',
  service: 'Standard',
  estimatedDays: { min: 2, max: 4 }
} as const
const UNLABELED = { carrier: null, tracking_number: null, unchecked: false }
type ShippedParcel = Parameters<ShippingApi['recordShipped']>[1]

/** A module that records shipping events, for one test, or shared. */
const useListener = () =>
  openShared(['shipping listener'], async () => {
    const receivedEvents: string[] = []
    const listener = defineModule({
      name: 'listener',
      description: 'Records shipping events.',
      basePaths: [],
      requires: { shipping: shippingModule },
      uses: {},
      subscribes: [shipmentDeliveredEvent, shipmentReturnedEvent, shipmentCorrectedEvent],
      setup: async () => ({
        api: {},
        eventHandlers: {
          'shipping.delivered': async (_tx, events) => {
            for (const { payload } of events)
              receivedEvents.push(`delivered ${payload.order_id} ${payload.shipment_id}`)
          },
          'shipping.returned': async (_tx, events) => {
            for (const { payload } of events)
              receivedEvents.push(`returned ${payload.order_id} ${payload.shipment_id}`)
          },
          'shipping.corrected': async (_tx, events) => {
            for (const { payload: of } of events)
              receivedEvents.push(`corrected ${of.order_id} ${of.shipment_id} ${of.status}`)
          }
        }
      })
    })
    return { listener, receivedEvents }
  })

/** Starts the same shop with shipped parcels, and a subscriber that records shipping events. */
export async function useParcels(settings: Readonly<Record<string, string>> = {}) {
  const { listener, receivedEvents } = await useListener()
  const shop = await useShipping({ others: [listener], settings })
  const shipping = shop.apiOf(shippingModule) as ShippingApi
  const buyer = customer()
  const send = (
    parcel: Partial<ShippedParcel & ShippedParcel['label']> & { customerId?: string | null } = {}
  ) => {
    const { customerId = buyer.id, carrier, tracking_number, unchecked, ...fields } = parcel
    const label = {
      ...(carrier && { carrier }),
      ...(tracking_number && { tracking_number }),
      ...(unchecked && { unchecked })
    }
    const id = newId()
    const order = { id: newId(), customer_id: customerId, token_version: 1 }
    const lines = [{ line: 1, quantity: 3 }]
    const sent = {
      id,
      order,
      groups: [{ key: 'goods', lines }],
      label: { ...UNLABELED, ...label },
      ...fields
    }
    return shop.db.transaction(async tx => {
      const groups = [{ key: 'goods', lines, option: POST }]
      await shipping.createShipments(tx, { orderId: order.id, customerId: order.customer_id, groups })
      await shipping.recordShipped(tx, sent)
      await shipping.updateUnshipped(tx, order.id, [])
      return { id, orderId: order.id }
    })
  }
  return {
    ...shop,
    shipping,
    buyer,
    receivedEvents,
    send,
    /** Adds a tracking event as an administrator. */
    tell: (id: string, body: object, headers: Record<string, string> = {}) =>
      shop.admin.post(`/api/admin/shipping/shipments/${id}/events`, body, headers),
    /** Reads the shipments of an order as a buyer. */
    read: (orderId: string, caller: { token: string } | null = buyer) =>
      shop.as(caller).get(`/api/shipping/order/${orderId}`)
  }
}
