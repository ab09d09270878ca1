import type { JobDelivery, PayloadOf } from '../../../kernel/events.ts'
import type { PortProvider } from '../../../kernel/ports.ts'
import { sumBy } from '../../../kernel/sum-by.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { normalizeTrackingNumber } from '../carriers/tracking-numbers.ts'
import type { PackingSlipOrderReader } from '../packing-slips/service.ts'
import { findShipment } from '../shipments/repository.ts'
import type { processLabelJob } from './job.ts'
import type { LabelRequest, ShippingLabelProvider } from './port.ts'
import * as repository from './repository.ts'
import { findLabelResultFault } from './result.ts'

const PROBLEM_LENGTH_MAX = 500

type Deps = {
  db: Database
  providers: () => readonly PortProvider<ShippingLabelProvider>[]
  describeOrders: PackingSlipOrderReader
}
type LabelRow = repository.LabelRow

/** Runs the job that buys and voids labels. A failed run is repeated with the same key. */
export function createLabelWorker({ db, providers, describeOrders }: Deps) {
  function providerOf({ provider: name }: LabelRow): ShippingLabelProvider {
    const provided = providers().find(each => each.name === name)
    if (provided === undefined)
      throw new Error(`no module provides labels of ${name}: enable the module that bought label`)
    return provided.provider
  }

  /** Returns what the provider needs, or `undefined` when the shipment is gone, or has no address. */
  async function requestFor(label: LabelRow): Promise<LabelRequest | undefined> {
    const shipment = await db.first(findShipment, { id: label.shipment_id })
    if (shipment === undefined) return undefined
    const [order] = await describeOrders(db, [shipment.order_id])
    if (order === undefined || order.address === null) return undefined
    const lineOf = new Map(order.lines.map(line => [line.line, line]))
    const lines = shipment.lines.flatMap(({ line, quantity }) => {
      const described = lineOf.get(line)
      return described === undefined ? [] : [{ ...described, quantity }]
    })
    return {
      key: label.id,
      shipmentId: shipment.id,
      orderId: order.id,
      orderNumber: order.number,
      service: label.service,
      option: { carrier: shipment.provider, name: shipment.service },
      recipient: order.address,
      weightGrams:
        label.weight_grams ?? sumBy(lines, ({ weight_grams, quantity }) => weight_grams * quantity),
      lines: lines.map(({ sku, name, quantity }) => ({ sku, name, quantity }))
    }
  }

  async function buy(label: LabelRow, signal: AbortSignal): Promise<void> {
    const { id } = label
    const request = await requestFor(label)
    if (request === undefined) {
      // An earlier attempt may have bought the label, so it is voided and not only dropped.
      const problem = 'The shipment no longer exists, or has no address.'
      await db.run(repository.updateLabelStatus, { id, before: 'requested', status: 'voiding', problem })
      return release({ ...label, problem }, signal)
    }
    const result = await providerOf(label).createLabel(request, signal)
    const fault = findLabelResultFault(result)
    if (fault !== undefined)
      throw new Error(`the provider ${label.provider} returned an invalid label: ${fault}`)
    if (result.kind === 'refused') {
      const problem = result.reason.slice(0, PROBLEM_LENGTH_MAX)
      await db.run(repository.updateLabelStatus, { id, before: 'requested', status: 'failed', problem })
      return
    }
    const { carrier, trackingNumber, mediaType, document } = result
    await db.run(repository.storeBoughtLabel, {
      id,
      carrier,
      tracking_number: trackingNumber,
      tracking_key: normalizeTrackingNumber(trackingNumber),
      media_type: mediaType,
      document: Buffer.from(document)
    })
  }

  async function release(label: LabelRow, signal: AbortSignal): Promise<void> {
    const { id, tracking_number: trackingNumber, problem } = label
    await providerOf(label).voidLabel({ key: id, trackingNumber }, signal)
    await db.run(repository.updateLabelStatus, { id, before: 'voiding', status: 'voided', problem })
  }

  return async (
    { payload: { label_id: id } }: JobDelivery<PayloadOf<typeof processLabelJob>>,
    signal: AbortSignal
  ): Promise<void> => {
    const label = await db.first(repository.findLabel, { id })
    if (label?.status !== 'requested' && label?.status !== 'voiding') return
    try {
      await (label.status === 'requested' ? buy : release)(label, signal)
    } catch (error) {
      const problem = String(error instanceof Error ? error.message : error).slice(0, PROBLEM_LENGTH_MAX)
      await db.run(repository.updateLabelStatus, { id, before: label.status, status: label.status, problem })
      throw error
    }
  }
}
