import type { Tiers } from '../../gateway/routing/tiers.ts'
import { defineModule } from '../../module.ts'
import { createChanges, keep } from '../../platform/kept.ts'
import type { Queryable, Transaction } from '../../platform/postgres/database.ts'
import { catalogModule } from '../catalog/index.ts'
import { isOrderToken } from '../payments/index.ts'
import { marketsOfRequests, pricingModule } from '../pricing/index.ts'
import { readCarriers } from './carriers/directory.ts'
import { carrierRoutes } from './carriers/routes.ts'
import { createCarrierService } from './carriers/service.ts'
import { diagnoseShipping } from './diagnosis.ts'
import { shipmentCorrected, shipmentDelivered, shipmentReturned } from './events.ts'
import { methodRoutes } from './methods/routes.ts'
import { createMethodService } from './methods/service.ts'
import { optionRoutes } from './options/routes.ts'
import { createOptionService } from './options/service.ts'
import { type Parcel, ratesOf, type ShippingOption } from './rates/options.ts'
import { rateRoutes } from './rates/routes.ts'
import { createRateService } from './rates/service.ts'
import { createFirstRules, type FirstRules } from './rules/first.ts'
import { readRules } from './rules/service.ts'
import { shippingSettings } from './settings.ts'
import { shipmentRoutes } from './shipments/routes.ts'
import {
  createShipmentService,
  type Label,
  type NewShipments,
  type Parcel as SentParcel
} from './shipments/service.ts'
import { slipRoutes } from './slips/routes.ts'
import { createSlips, type DescribeOrders } from './slips/service.ts'
import { type Correction, createTracking, type WrongEvent, type WrongParcel } from './tracking/service.ts'
import { zoneRoutes } from './zones/routes.ts'
import { createZoneService } from './zones/service.ts'

export { shipmentCorrected, shipmentDelivered, shipmentReturned } from './events.ts'
export type { Parcel, ShippingOption } from './rates/options.ts'

/** What other modules ask about shipping. */
export type ShippingApi = {
  /**
   * What it costs to send a parcel, by the rules of this moment: the ways to send it, cheapest first. From memory, and
   * current within a second.
   */
  rates(): Promise<(parcel: Parcel) => ShippingOption[]>
  /** The regions on which it depends how something is sent, by country. From memory, too. */
  regions(): Promise<ReadonlyMap<string, ReadonlySet<string>>>
  /** What of an order has to be sent or picked up: within its transaction. What waits already stays as it is. */
  open(tx: Transaction, shipments: NewShipments): Promise<void>
  /** Some of an order is on its way, or can be picked up: within the transaction that says so, once. */
  send(tx: Transaction, parcel: SentParcel): Promise<Label>
  /** What stands on a parcel was wrong. Both answer what is kept of it. @throws `SHIPPING_NUMBER_INVALID` */
  relabel(tx: Transaction, shipmentId: string, label: SentParcel['label']): Promise<Label>
  /**
   * What was told of a parcel was wrong. Answers what that changes; `undefined`: it is known already.
   * @throws `SHIPPING_SHIPMENT_NOT_FOUND`, `SHIPPING_SHIPMENT_VOIDED`, `SHIPPING_EVENT_NOT_FOUND`
   */
  voidEvent(tx: Transaction, wrong: WrongEvent): Promise<Correction | undefined>
  /** A parcel never left: nothing is told of it any more. What was in it is to be opened again. @throws `SHIPPING_SHIPMENT_LEFT` */
  voidParcel(tx: Transaction, wrong: WrongParcel): Promise<void>
  /** Of which of these parcels it was told that they have arrived, or come back, and that was not wrong. One statement. */
  told(
    db: Queryable,
    shipmentIds: readonly string[],
    status: 'delivered' | 'returned'
  ): Promise<ReadonlySet<string>>
  /** What of an order is still to be sent, by group; of groups that are not named nothing is. */
  remain(tx: Transaction, orderId: string, groups: SentParcel['groups']): Promise<void>
  /** What was ordered without an account is this customer's from now on. */
  handOver(tx: Transaction, orderId: string, customerId: string): Promise<void>
  /** Nothing says any more who was sent these orders. */
  forget(tx: Transaction, orderIds: readonly string[]): Promise<void>
  /** Whoever keeps orders says at its set-up what is written on their parcels; without it, slips say what shipping knows. */
  askOrders(describe: DescribeOrders): void
  /** Makes these zones, methods and rates where there are none at all, and answers whether it did. */
  createFirst(rules: FirstRules): Promise<boolean>
}

/** Where the shop sends to, how, what that costs, and how orders come. */
export const shippingModule = defineModule({
  name: 'shipping',
  description: 'Where the shop sends to, how, and what that costs.',
  basePaths: ['/api/shipping', '/api/admin/shipping'],
  settings: shippingSettings,
  requires: { catalog: catalogModule },
  capabilities: ['x-order-token'],
  uses: { pricing: pricingModule },
  emits: [shipmentDelivered, shipmentReturned, shipmentCorrected],
  migrations: new URL('./migrations/', import.meta.url),
  keepsOfPeople: 'Parcels are those of orders, which have them forget whose they were.',
  setup: async ({ config, db, broadcast, emit, secrets }, settings, { catalog, pricing }) => {
    const { currency } = config.shop
    const changes = createChanges(broadcast, 'shipping')
    const rulesNow = keep(changes, () => readRules(db))
    const carriers = keep(changes, () => readCarriers(db))
    const shipments = createShipmentService({
      db,
      isToken: (token, orderId, version) => isOrderToken(secrets, token, orderId, version),
      carriers
    })
    const tracking = createTracking({ db, emit })
    const api: ShippingApi = {
      open: shipments.open,
      send: shipments.send,
      relabel: shipments.relabel,
      voidEvent: tracking.voidEvent,
      voidParcel: tracking.voidParcel,
      told: tracking.told,
      remain: shipments.remain,
      handOver: shipments.handOver,
      forget: shipments.forget,
      rates: async () => {
        const rules = await rulesNow()
        return parcel => ratesOf(rules, parcel)
      },
      regions: async () => (await rulesNow()).regions,
      askOrders: describe => {
        ordersTell = describe
      },
      createFirst: rules => createFirstRules({ db, changes, currency }, rules)
    }
    const options = createOptionService({ catalog, rules: rulesNow, currency })
    const zones = createZoneService({ db, changes })
    const methods = createMethodService({
      ...{ db, changes },
      // Where nobody speaks of markets, the shop is one.
      listMarkets: async () => pricing?.markets.list() ?? [{ code: 'default', currency, countries: [] }]
    })
    const carrierService = createCarrierService({ db, changes })
    let ordersTell: DescribeOrders = async () => []
    const slips = createSlips({
      ...{ db, carriers, timeZone: config.shop.time_zone },
      describeOrders: (...asked) => ordersTell(...asked)
    })
    const rates = createRateService({ db, changes, currency })
    const routes = (tiers: Tiers) => {
      optionRoutes(tiers, options, marketsOfRequests(pricing))
      zoneRoutes(tiers, zones)
      methodRoutes(tiers, methods)
      rateRoutes(tiers, rates)
      carrierRoutes(tiers, carrierService)
      slipRoutes(tiers, slips)
      shipmentRoutes(tiers, shipments, { tracking, perMinute: settings.tracked_per_minute })
    }
    return { api, routes, diagnoses: diagnoseShipping({ db, pricing }) }
  }
})
