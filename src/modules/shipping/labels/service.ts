import { found } from '../../../kernel/errors.ts'
import type { PayloadOf } from '../../../kernel/events.ts'
import type { PortProvider } from '../../../kernel/ports.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { normalizeTrackingNumber } from '../carriers/tracking-numbers.ts'
import {
  labelFileNotFoundError,
  labelNotFoundError,
  labelNotPossibleError,
  labelProviderUnknownError,
  labelStaleError,
  shipmentNotFoundError,
  shipmentStaleError
} from '../errors.ts'
import { lockShipmentForLabel } from '../shipments/repository.ts'
import { processLabelJob } from './job.ts'
import type { ShippingLabelProvider } from './port.ts'
import * as repository from './repository.ts'
import type { CreateLabelRequest, LabelResponse } from './schema.ts'

type Deps = {
  db: Database
  enqueue: Enqueue
  providers: () => readonly PortProvider<ShippingLabelProvider>[]
}

/** Labels of shipments. Routes only record what is wanted; `processLabelJob` asks the provider. */
export function createLabelService({ db, enqueue, providers }: Deps) {
  /** @throws `SHIPPING_LABEL_PROVIDER_UNKNOWN` */
  function providerNamed(name: string | undefined): string {
    const names = providers().map(each => each.name)
    const chosen = name ?? (names.length === 1 ? names[0] : undefined)
    if (chosen === undefined || !names.includes(chosen))
      throw labelProviderUnknownError({
        details: {
          providers: names,
          errors: [{ path: 'body/provider', message: `must be one of: ${names.join(', ')}` }]
        }
      })
    return chosen
  }

  const process = (tx: Transaction, labelId: string): void => {
    const payload: PayloadOf<typeof processLabelJob> = { label_id: labelId }
    enqueue(tx, processLabelJob, payload, { subject: labelId })
  }

  /** @throws `SHIPPING_LABEL_NOT_FOUND` */
  const read = async (shipmentId: string): Promise<LabelResponse> =>
    present(
      found(await db.first(repository.findLabelOfShipment, { shipment_id: shipmentId }), labelNotFoundError)
    )

  /**
   * Requests a label. Its id is that of the write, so that a retry buys none.
   * @throws `SHIPPING_SHIPMENT_NOT_FOUND`, `SHIPPING_SHIPMENT_STALE`, `SHIPPING_LABEL_NOT_POSSIBLE`,
   * `SHIPPING_LABEL_EXISTS`, `SHIPPING_LABEL_PROVIDER_UNKNOWN`
   */
  async function create(
    shipmentId: string,
    { provider, service, weight_grams }: CreateLabelRequest,
    write: IdempotentWrite
  ): Promise<LabelResponse> {
    await write.once(db, async tx => {
      const shipment = found(await tx.first(lockShipmentForLabel, { id: shipmentId }), shipmentNotFoundError)
      write.expect(shipment.version, shipmentStaleError)
      const { order_id, method, status, erased_at } = shipment
      if (method !== 'shipping' || status === 'voided' || erased_at !== null) throw labelNotPossibleError()
      const chosen = {
        provider: providerNamed(provider),
        service: service ?? null,
        weight_grams: weight_grams ?? null
      }
      await tx.run(repository.insertLabel, { id: write.id, shipment_id: shipmentId, order_id, ...chosen })
      process(tx, write.id)
    })
    return present(found(await db.first(repository.findLabel, { id: write.id }), labelNotFoundError))
  }

  /** Does nothing when the label is voided or was never bought. @throws `SHIPPING_LABEL_NOT_FOUND`, `SHIPPING_LABEL_STALE` */
  async function remove(shipmentId: string, write: IdempotentWrite): Promise<LabelResponse> {
    await write.once(db, async tx => {
      const { version } = found(
        await tx.first(repository.lockLabelOfShipment, { shipment_id: shipmentId }),
        labelNotFoundError
      )
      write.expect(version, labelStaleError)
      await startVoiding(tx, shipmentId)
    })
    return read(shipmentId)
  }

  async function startVoiding(tx: Transaction, shipmentId: string): Promise<void> {
    for (const { id } of await tx.rows(repository.startVoidingLabel, { shipment_id: shipmentId }))
      process(tx, id)
  }

  return {
    create,
    read,
    remove,
    /** @throws `SHIPPING_LABEL_FILE_NOT_FOUND` */
    file: async (shipmentId: string) => {
      const { media_type, document } =
        (await db.first(repository.findLabelDocument, { shipment_id: shipmentId })) ?? {}
      if (media_type == null || document == null) throw labelFileNotFoundError()
      return { mediaType: media_type, document }
    },
    /** Assigns the label with the tracking number of a parcel to the parcel. No statement in a shop without providers. */
    parcelShipped: async (
      tx: Transaction,
      parcel: {
        readonly order_id: string
        readonly shipment_id: string
        readonly tracking_number: string | null
      }
    ): Promise<void> => {
      const { tracking_number, ...ids } = parcel
      if (tracking_number !== null && providers().length > 0)
        await tx.run(repository.assignLabelToParcel, {
          ...ids,
          tracking_key: normalizeTrackingNumber(tracking_number)
        })
    },
    /** Voids the labels of shipments that were canceled. No statement in a shop without providers. */
    unshippedChanged: async (tx: Transaction, orderId: string): Promise<void> => {
      if (providers().length === 0) return
      for (const { id } of await tx.rows(repository.startVoidingUnusedLabels, { order_id: orderId }))
        process(tx, id)
    },
    /** Voids the label of a voided parcel. No statement in a shop without providers. */
    parcelVoided: async (tx: Transaction, shipmentId: string): Promise<void> => {
      if (providers().length > 0) await startVoiding(tx, shipmentId)
    }
  }
}
export type LabelService = ReturnType<typeof createLabelService>

const present = ({ weight_grams: _, ...label }: repository.LabelRow): LabelResponse => label
