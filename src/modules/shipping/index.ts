import type { Tiers } from '../../gateway/routing/tiers.ts'
import { defineModule } from '../../module.ts'
import { createCachedReader, createCacheInvalidator } from '../../platform/cached.ts'
import { createMetadataCommand } from '../../platform/metadata-command.ts'
import { catalogModule } from '../catalog/index.ts'
import { isValidOrderToken } from '../payments/index.ts'
import { createRequestMarketResolver, pricingModule } from '../pricing/index.ts'
import type { ShippingApi } from './api.ts'
import { loadCarrierDirectory } from './carriers/directory.ts'
import { carrierRoutes } from './carriers/routes.ts'
import { createCarrierService } from './carriers/service.ts'
import { diagnoseShippingTax } from './diagnosis.ts'
import { shipmentCorrectedEvent, shipmentDeliveredEvent, shipmentReturnedEvent } from './events.ts'
import { createInitialShippingRules } from './initial-rules/service.ts'
import { processLabelJob } from './labels/job.ts'
import { shippingLabelsPort } from './labels/port.ts'
import { deleteOldLabelDocuments, eraseLabels } from './labels/repository.ts'
import { labelRoutes } from './labels/routes.ts'
import { createLabelService } from './labels/service.ts'
import { createLabelWorker } from './labels/worker.ts'
import { shippingMethodRoutes } from './methods/routes.ts'
import { createShippingMethodService } from './methods/service.ts'
import { shippingEstimateRoutes } from './options/routes.ts'
import { createShippingEstimateService } from './options/service.ts'
import { packingSlipRoutes } from './packing-slips/routes.ts'
import {
  createPackingSlipService,
  type PackingSlipOrderReader,
  packingSlipOrdersPort
} from './packing-slips/service.ts'
import { shippingRatesPort } from './provider-rates/port.ts'
import { createProviderRateService } from './provider-rates/service.ts'
import { shippingRateRoutes } from './rates/routes.ts'
import { createShippingRateService } from './rates/service.ts'
import { listShippingOptionsOfParcel, withProviderOptions } from './rules/options.ts'
import { readShippingRules } from './rules/repository.ts'
import { shippingSettings } from './settings.ts'
import { shipmentRoutes } from './shipments/routes.ts'
import { createShipmentService } from './shipments/service.ts'
import { createTrackingService } from './tracking/service.ts'
import { shippingZoneRoutes } from './zones/routes.ts'
import { createShippingZoneService } from './zones/service.ts'

export type { ShippingApi } from './api.ts'
export { shipmentCorrectedEvent, shipmentDeliveredEvent, shipmentReturnedEvent } from './events.ts'
export {
  type LabelRecipient,
  type LabelRequest,
  type LabelResult,
  type ShippingLabelProvider,
  shippingLabelsPort
} from './labels/port.ts'
export { findLabelResultFault } from './labels/result.ts'
export { packingSlipOrdersPort } from './packing-slips/service.ts'
export { findProviderRatesFault } from './provider-rates/options.ts'
export {
  type ParcelToRate,
  type ProviderRate,
  type ShippingRateProvider,
  shippingRatesPort
} from './provider-rates/port.ts'
export type { ShippingOption, ShippingParcel } from './rules/options.ts'

const DELETE_SECONDS = 600
const LABELS_AT_ONCE = 100

/** Shipping zones, methods and rates, shipments and their tracking. */
export const shippingModule = defineModule({
  name: 'shipping',
  description: 'Shipping zones, methods, rates, shipments and tracking.',
  basePaths: ['/api/shipping', '/api/admin/shipping'],
  settings: shippingSettings,
  requires: { catalog: catalogModule },
  credentialHeaders: ['x-order-token'],
  uses: { pricing: pricingModule },
  emits: [shipmentDeliveredEvent, shipmentReturnedEvent, shipmentCorrectedEvent],
  ports: [packingSlipOrdersPort, shippingRatesPort, shippingLabelsPort],
  jobs: [processLabelJob],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: 'Shipments belong to orders, which erase the personal data in them.',
  setup: async (platform, settings, { catalog, pricing }) => {
    const { config, db, broadcast, emit, enqueue, secrets, ports, timers } = platform
    const { currency } = config.shop
    const invalidation = createCacheInvalidator(broadcast, 'shipping')
    const loadRules = createCachedReader(invalidation, () => readShippingRules(db))
    const carriers = createCachedReader(invalidation, () => loadCarrierDirectory(db))
    const providerRates = createProviderRateService({
      ...platform,
      providers: () => ports.all(shippingRatesPort),
      timeoutMs: settings.provider_timeout_ms,
      keptSeconds: settings.provider_rates_minutes * 60
    })
    timers.untilEmpty(DELETE_SECONDS, 'delete expired shipping rates', providerRates.deleteExpired)
    const shipments = createShipmentService({
      db,
      isToken: (token, orderId, version) => isValidOrderToken(secrets, token, orderId, version),
      carriers
    })
    const tracking = createTrackingService({ db, emit })
    const describeOrders: PackingSlipOrderReader = async (...request) =>
      (await ports.only(packingSlipOrdersPort)?.(...request)) ?? []
    const labelProviders = () => ports.all(shippingLabelsPort)
    const labels = createLabelService({ db, enqueue, providers: labelProviders })
    timers.untilEmpty(DELETE_SECONDS, 'delete old label documents', async () =>
      labelProviders().length === 0
        ? 0
        : db.run(deleteOldLabelDocuments, { days: settings.label_document_days, limit: LABELS_AT_ONCE })
    )
    const api: ShippingApi = {
      createShipments: shipments.createShipments,
      recordShipped: async (tx, parcel) => {
        const label = await shipments.recordShipped(tx, parcel)
        await labels.parcelShipped(tx, {
          order_id: parcel.order.id,
          shipment_id: parcel.id,
          tracking_number: label.tracking_number
        })
        return label
      },
      updateLabel: shipments.updateLabel,
      voidEvent: tracking.voidEvent,
      voidParcel: async (tx, wrong) => {
        await tracking.voidParcel(tx, wrong)
        await labels.parcelVoided(tx, wrong.shipmentId)
      },
      findReported: tracking.findReported,
      updateUnshipped: async (tx, orderId, groups) => {
        await shipments.updateUnshipped(tx, orderId, groups)
        await labels.unshippedChanged(tx, orderId)
      },
      assignCustomer: shipments.assignCustomer,
      updateMetadata: createMetadataCommand(shipments.updateMetadata),
      erase: async (tx, orderIds) => {
        await shipments.erase(tx, orderIds)
        await tx.run(eraseLabels, { order_ids: [...orderIds] })
      },
      loadRateCalculator: async () => {
        const rules = await loadRules()
        return (parcel, ofProviders = []) =>
          withProviderOptions(listShippingOptionsOfParcel(rules, parcel), ofProviders)
      },
      providerOptionFetcher: providerRates.fetcher,
      listRegions: async () => (await loadRules()).regions,
      createInitialRules: rules => createInitialShippingRules({ db, invalidation, currency }, rules)
    }
    const options = createShippingEstimateService({
      catalog,
      rules: loadRules,
      providerOptionFetcher: providerRates.fetcher,
      currency
    })
    const zones = createShippingZoneService({ db, invalidation })
    const methods = createShippingMethodService({
      db,
      invalidation,
      // Without the module pricing, the shop is a single market.
      listMarkets: async () => pricing?.markets.list() ?? [{ code: 'default', currency, countries: [] }]
    })
    const carrierService = createCarrierService({ db, invalidation })
    const slips = createPackingSlipService({
      db,
      carriers,
      timeZone: config.shop.time_zone,
      describeOrders
    })
    const rates = createShippingRateService({ db, invalidation, currency })
    const routes = (tiers: Tiers) => {
      shippingEstimateRoutes(tiers, options, createRequestMarketResolver(pricing))
      shippingZoneRoutes(tiers, zones)
      shippingMethodRoutes(tiers, methods)
      shippingRateRoutes(tiers, rates)
      carrierRoutes(tiers, carrierService)
      packingSlipRoutes(tiers, slips)
      labelRoutes(tiers, labels)
      shipmentRoutes(tiers, shipments, { tracking, perMinute: settings.tracked_per_minute })
    }
    const jobHandlers = {
      [processLabelJob.name]: createLabelWorker({ db, providers: labelProviders, describeOrders })
    }
    return { api, routes, jobHandlers, diagnoses: diagnoseShippingTax({ db, pricing }) }
  }
})
