import type { Tiers } from '../../gateway/routing/tiers.ts'
import { defineModule } from '../../module.ts'
import { createCached, createInvalidation } from '../../platform/cached.ts'
import type { Queryable, Transaction } from '../../platform/postgres/database.ts'
import { catalogModule } from '../catalog/index.ts'
import { isValidOrderToken } from '../payments/index.ts'
import { createRequestMarketResolver, pricingModule } from '../pricing/index.ts'
import { readCarriers } from './carriers/directory.ts'
import { carrierRoutes } from './carriers/routes.ts'
import { createCarrierService } from './carriers/service.ts'
import { diagnoseShipping } from './diagnosis.ts'
import { shipmentCorrected, shipmentDelivered, shipmentReturned } from './events.ts'
import { createInitialRules, type InitialRules } from './initial-rules/service.ts'
import { methodRoutes } from './methods/routes.ts'
import { createMethodService } from './methods/service.ts'
import { optionRoutes } from './options/routes.ts'
import { createOptionService } from './options/service.ts'
import { slipRoutes } from './packing-slips/routes.ts'
import { createPackingSlips, type OrderDescriber } from './packing-slips/service.ts'
import { rateRoutes } from './rates/routes.ts'
import { createRateService } from './rates/service.ts'
import { listOptions, type ShippingOption, type ShippingParcel } from './rules/options.ts'
import { readRules } from './rules/repository.ts'
import { shippingSettings } from './settings.ts'
import { shipmentRoutes } from './shipments/routes.ts'
import {
  createShipmentService,
  type NewShipments,
  type ParcelLabel,
  type ShippedParcel
} from './shipments/service.ts'
import {
  createTracking,
  type StatusCorrection,
  type VoidEventInput,
  type VoidParcelInput
} from './tracking/service.ts'
import { zoneRoutes } from './zones/routes.ts'
import { createZoneService } from './zones/service.ts'

export { shipmentCorrected, shipmentDelivered, shipmentReturned } from './events.ts'
export type { ShippingOption, ShippingParcel } from './rules/options.ts'

/** What other modules need from shipping. */
export type ShippingApi = {
  /**
   * Returns a function that lists the shipping options of a parcel, cheapest first, by the present rules. The rules are cached
   * in memory and current within a second.
   */
  loadRateCalculator(): Promise<(parcel: ShippingParcel) => ShippingOption[]>
  /** Returns the regions that zones name, by country. Cached in memory, too. */
  listRegions(): Promise<ReadonlyMap<string, ReadonlySet<string>>>
  /** Creates the shipments of an order in `tx`, one per group. Existing ones stay as they are. */
  createShipments(tx: Transaction, shipments: NewShipments): Promise<void>
  /** Records a shipped parcel, or one that is ready for pickup, in `tx`. @throws `SHIPPING_NUMBER_INVALID` */
  recordShipped(tx: Transaction, parcel: ShippedParcel): Promise<ParcelLabel>
  /** Corrects carrier and tracking number of a parcel. Returns them as stored. @throws `SHIPPING_NUMBER_INVALID` */
  updateLabel(tx: Transaction, shipmentId: string, label: ShippedParcel['label']): Promise<ParcelLabel>
  /**
   * Voids a wrong tracking event. Returns the change of status, or `undefined` when the event is voided already.
   * @throws `SHIPPING_SHIPMENT_NOT_FOUND`, `SHIPPING_SHIPMENT_VOIDED`, `SHIPPING_EVENT_NOT_FOUND`
   */
  voidEvent(tx: Transaction, wrong: VoidEventInput): Promise<StatusCorrection | undefined>
  /** Voids a parcel that never left. The caller creates shipments for its contents again. @throws `SHIPPING_SHIPMENT_LEFT` */
  voidParcel(tx: Transaction, wrong: VoidParcelInput): Promise<void>
  /** Returns those of these parcels that have a valid tracking event with this status. One statement. */
  findReported(
    db: Queryable,
    shipmentIds: readonly string[],
    status: 'delivered' | 'returned'
  ): Promise<ReadonlySet<string>>
  /** Replaces the unshipped lines of an order, by group. Groups that are not named have none left. */
  updateUnshipped(tx: Transaction, orderId: string, groups: ShippedParcel['groups']): Promise<void>
  /** Assigns the shipments of a guest's order to a customer. */
  assignCustomer(tx: Transaction, orderId: string, customerId: string): Promise<void>
  /** Erases the personal data in the shipments of these orders. */
  erase(tx: Transaction, orderIds: readonly string[]): Promise<void>
  /** Registers, at set-up, how orders describe themselves for packing slips. Without it, slips show only shipping's own data. */
  registerOrderDescriber(describe: OrderDescriber): void
  /** Creates these zones, methods and rates if none exist, and returns whether it did. */
  createInitialRules(rules: InitialRules): Promise<boolean>
}

/** Shipping zones, methods and rates, shipments and their tracking. */
export const shippingModule = defineModule({
  name: 'shipping',
  description: 'Shipping zones, methods, rates, shipments and tracking.',
  basePaths: ['/api/shipping', '/api/admin/shipping'],
  settings: shippingSettings,
  requires: { catalog: catalogModule },
  credentialHeaders: ['x-order-token'],
  uses: { pricing: pricingModule },
  emits: [shipmentDelivered, shipmentReturned, shipmentCorrected],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: 'Shipments belong to orders, which erase the personal data in them.',
  setup: async ({ config, db, broadcast, emit, secrets }, settings, { catalog, pricing }) => {
    const { currency } = config.shop
    const invalidation = createInvalidation(broadcast, 'shipping')
    const loadRules = createCached(invalidation, () => readRules(db))
    const carriers = createCached(invalidation, () => readCarriers(db))
    const shipments = createShipmentService({
      db,
      isToken: (token, orderId, version) => isValidOrderToken(secrets, token, orderId, version),
      carriers
    })
    const tracking = createTracking({ db, emit })
    const api: ShippingApi = {
      createShipments: shipments.createShipments,
      recordShipped: shipments.recordShipped,
      updateLabel: shipments.updateLabel,
      voidEvent: tracking.voidEvent,
      voidParcel: tracking.voidParcel,
      findReported: tracking.findReported,
      updateUnshipped: shipments.updateUnshipped,
      assignCustomer: shipments.assignCustomer,
      erase: shipments.erase,
      loadRateCalculator: async () => {
        const rules = await loadRules()
        return parcel => listOptions(rules, parcel)
      },
      listRegions: async () => (await loadRules()).regions,
      registerOrderDescriber: describe => {
        describeOrders = describe
      },
      createInitialRules: rules => createInitialRules({ db, invalidation, currency }, rules)
    }
    const options = createOptionService({ catalog, rules: loadRules, currency })
    const zones = createZoneService({ db, invalidation })
    const methods = createMethodService({
      db,
      invalidation,
      // Without the module pricing, the shop is a single market.
      listMarkets: async () => pricing?.markets.list() ?? [{ code: 'default', currency, countries: [] }]
    })
    const carrierService = createCarrierService({ db, invalidation })
    let describeOrders: OrderDescriber = async () => []
    const slips = createPackingSlips({
      db,
      carriers,
      timeZone: config.shop.time_zone,
      describeOrders: (...request) => describeOrders(...request)
    })
    const rates = createRateService({ db, invalidation, currency })
    const routes = (tiers: Tiers) => {
      optionRoutes(tiers, options, createRequestMarketResolver(pricing))
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
