import type { UpdateMetadata } from '../../platform/metadata-command.ts'
import type { Queryable, Transaction } from '../../platform/postgres/database.ts'
import type { InitialShippingRules } from './initial-rules/service.ts'
import type { FetchProviderOptions } from './provider-rates/service.ts'
import type { ShippingOption, ShippingParcel } from './rules/options.ts'
import type { NewOrderShipments, ParcelCarrierAndTracking, ShippedParcel } from './shipments/service.ts'
import type {
  ShipmentStatusCorrection,
  VoidTrackingEventInput,
  VoidUnshippedParcelInput
} from './tracking/service.ts'

/** API of shipping for other modules. */
export type ShippingApi = {
  /**
   * Returns a function that lists the shipping options of a parcel, cheapest first, by the present rules and with the options
   * that providers returned for it. The rules are cached in memory and current within a second.
   * @example
   * const calculate = await shipping.loadRateCalculator()
   * const destination = { country: 'SE', postalCode: '111 51' }
   * const mug = { destination, weightGrams: 300, valueMinor: 1_000, items: 1 }
   * const options = calculate({ ...mug, currency: 'USD', requiresShipping: true })
   * assert.ok(options.some(({ service, amountMinor }) => service === 'Standard' && amountMinor === 490))
   */
  loadRateCalculator(): Promise<
    (parcel: ShippingParcel, ofProviders?: readonly ShippingOption[]) => ShippingOption[]
  >
  /**
   * Returns the function that fetches the options of providers for a parcel, outside of a transaction. It never rejects
   * because of a provider. `undefined`: no module provides rates.
   * @example
   * assert.equal(shipping.providerOptionFetcher(), undefined)
   */
  providerOptionFetcher(): FetchProviderOptions | undefined
  /**
   * Returns the regions that zones name, by country. Cached in memory, too.
   * @example
   * const regions = await shipping.listRegions()
   * assert.equal(regions.get('SE')?.size, 0)
   */
  listRegions(): Promise<ReadonlyMap<string, ReadonlySet<string>>>
  /**
   * Creates the shipments of an order in `tx`, one per group. Existing ones stay as they are.
   * @example
   * const option = { id: 'post', method: 'shipping', provider: null, service: 'Post', estimatedDays: null } as const
   * const groups = [{ key: 'goods', lines: [{ line: 1, quantity: 2 }], option }]
   * await db.transaction(tx => shipping.createShipments(tx, { orderId: newId(), customerId, groups }))
   */
  createShipments(tx: Transaction, shipments: NewOrderShipments): Promise<void>
  /**
   * Records a shipped parcel, or one that is ready for pickup, in `tx`. @throws `SHIPPING_NUMBER_INVALID`
   * @example
   * const order = { id: newId(), customer_id: customerId, token_version: 1 }
   * const groups = [{ key: 'goods', lines: [{ line: 1, quantity: 2 }] }]
   * const label = { carrier: 'Post', tracking_number: 'PP1', unchecked: false }
   * const shipped = await db.transaction(tx => shipping.recordShipped(tx, { id: newId(), order, groups, label }))
   * assert.equal(shipped.tracking_number, 'PP1')
   */
  recordShipped(tx: Transaction, parcel: ShippedParcel): Promise<ParcelCarrierAndTracking>
  /**
   * Corrects carrier and tracking number of a parcel. Returns them as stored. @throws `SHIPPING_NUMBER_INVALID`
   * @example
   * const order = { id: newId(), customer_id: customerId, token_version: 1 }
   * const groups = [{ key: 'goods', lines: [{ line: 1, quantity: 2 }] }]
   * const label = { carrier: 'Post', tracking_number: 'PP1', unchecked: false }
   * const id = newId()
   * await db.transaction(tx => shipping.recordShipped(tx, { id, order, groups, label }))
   * const without = { ...label, tracking_number: null }
   * const corrected = await db.transaction(tx => shipping.updateLabel(tx, id, without))
   * assert.equal(corrected.tracking_number, null)
   */
  updateLabel(
    tx: Transaction,
    shipmentId: string,
    label: ShippedParcel['label']
  ): Promise<ParcelCarrierAndTracking>
  /**
   * Voids a wrong tracking event. Returns the change of status, or `undefined` when the event is voided already.
   * @throws `SHIPPING_SHIPMENT_NOT_FOUND`, `SHIPPING_SHIPMENT_VOIDED`, `SHIPPING_EVENT_NOT_FOUND`
   * @example
   * const event = { orderId: newId(), shipmentId: newId(), eventId: newId() }
   * const wrong = { ...event, actor: customerId, reason: 'Recorded for another parcel.' }
   * const code = 'SHIPPING_SHIPMENT_NOT_FOUND'
   * await assert.rejects(db.transaction(tx => shipping.voidEvent(tx, wrong)), { code })
   */
  voidEvent(tx: Transaction, wrong: VoidTrackingEventInput): Promise<ShipmentStatusCorrection | undefined>
  /**
   * Voids a parcel that never left. The caller creates shipments for its contents again. @throws `SHIPPING_SHIPMENT_LEFT`
   * @example
   * const order = { id: newId(), customer_id: customerId, token_version: 1 }
   * const groups = [{ key: 'goods', lines: [{ line: 1, quantity: 2 }] }]
   * const label = { carrier: 'Post', tracking_number: 'PP1', unchecked: false }
   * const id = newId()
   * await db.transaction(tx => shipping.recordShipped(tx, { id, order, groups, label }))
   * const wrong = { shipmentId: id, actor: null, reason: 'It was never packed.' }
   * await db.transaction(tx => shipping.voidParcel(tx, wrong))
   */
  voidParcel(tx: Transaction, wrong: VoidUnshippedParcelInput): Promise<void>
  /**
   * Returns which of these parcels have a valid tracking event with this status. One statement.
   * @example
   * const delivered = await shipping.findReported(db, [newId()], 'delivered')
   * assert.equal(delivered.size, 0)
   */
  findReported(
    db: Queryable,
    shipmentIds: readonly string[],
    status: 'delivered' | 'returned'
  ): Promise<ReadonlySet<string>>
  /**
   * Replaces the unshipped lines of an order, by group. Groups that are not named have none left.
   * @example
   * const groups = [{ key: 'goods', lines: [{ line: 1, quantity: 1 }] }]
   * await db.transaction(tx => shipping.updateUnshipped(tx, newId(), groups))
   */
  updateUnshipped(tx: Transaction, orderId: string, groups: ShippedParcel['groups']): Promise<void>
  /**
   * Assigns the shipments of a guest's order to a customer.
   * @example
   * await db.transaction(tx => shipping.assignCustomer(tx, newId(), customerId))
   */
  assignCustomer(tx: Transaction, orderId: string, customerId: string): Promise<void>
  /**
   * Changes the metadata of a shipment. After erasure of the order, values are rejected.
   * @throws `SHIPPING_SHIPMENT_NOT_FOUND`, `METADATA_ERASED`, `METADATA_LIMIT`, `METADATA_INVALID`
   * @example
   * const order = { id: newId(), customer_id: customerId, token_version: 1 }
   * const groups = [{ key: 'goods', lines: [{ line: 1, quantity: 2 }] }]
   * const label = { carrier: 'Post', tracking_number: 'PP1', unchecked: false }
   * const id = newId()
   * await db.transaction(tx => shipping.recordShipped(tx, { id, order, groups, label }))
   * const { metadata } = await shipping.updateMetadata(id, { metadata: { box: 'M' } }, newWrite())
   * assert.deepEqual(metadata, { box: 'M' })
   */
  updateMetadata: UpdateMetadata
  /**
   * Erases the personal data in the shipments of these orders.
   * @example
   * await db.transaction(tx => shipping.erase(tx, [newId()]))
   */
  erase(tx: Transaction, orderIds: readonly string[]): Promise<void>
  /**
   * Creates these zones, methods and rates if none exist, and returns whether it did.
   * @example
   * // The shop has rules already.
   * assert.equal(await shipping.createInitialRules({ zones: { Sweden: 'SE' }, methods: [] }), false)
   */
  createInitialRules(rules: InitialShippingRules): Promise<boolean>
}
