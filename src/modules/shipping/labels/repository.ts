import { nullableOneOf, oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import type { LABEL_MEDIA_TYPES } from './port.ts'
import type { LabelStatus } from './schema.ts'

const label = {
  id: 'uuid',
  shipment_id: 'uuid',
  status: oneOf<LabelStatus>(),
  provider: 'text',
  service: 'text?',
  weight_grams: 'int4?',
  carrier: 'text?',
  tracking_number: 'text?',
  media_type: nullableOneOf<(typeof LABEL_MEDIA_TYPES)[number]>(),
  problem: 'text?',
  version: 'int4',
  created_at: 'timestamptz',
  updated_at: 'timestamptz'
} as const
const names = Object.keys(label).join(', ')
const changed = 'version = version + 1, updated_at = now()'

export const insertLabel = statement({
  name: 'shipping.insert_label',
  takes: {
    id: 'uuid',
    shipment_id: 'uuid',
    order_id: 'uuid',
    provider: 'text',
    service: 'text?',
    weight_grams: 'int4?'
  },
  text: `
    insert into shipping.labels (id, shipment_id, order_id, provider, service, weight_grams)
    values ($id, $shipment_id, $order_id, $provider, $service, $weight_grams)`
})
export const findLabel = statement({
  name: 'shipping.find_label',
  takes: { id: 'uuid' },
  gives: label,
  text: `select ${names} from shipping.labels where id = $id`
})
/** Finds the last label of a shipment. */
export const findLabelOfShipment = statement({
  name: 'shipping.find_label_of_shipment',
  takes: { shipment_id: 'uuid' },
  gives: label,
  text: `
    select ${names} from shipping.labels where shipment_id = $shipment_id order by created_at desc, id desc limit 1`
})
/** Locks the last label of a shipment until `tx` ends. */
export const lockLabelOfShipment = statement({
  name: 'shipping.lock_label_of_shipment',
  takes: { shipment_id: 'uuid' },
  gives: { id: 'uuid', status: oneOf<LabelStatus>(), version: 'int4' },
  text: `
    select id, status, version from shipping.labels where shipment_id = $shipment_id
    order by created_at desc, id desc limit 1 for update`
})
export const findLabelDocument = statement({
  name: 'shipping.find_label_document',
  takes: { shipment_id: 'uuid' },
  gives: { media_type: nullableOneOf<(typeof LABEL_MEDIA_TYPES)[number]>(), document: 'bytea?' },
  text: `
    select media_type, document from shipping.labels where shipment_id = $shipment_id
    order by created_at desc, id desc limit 1`
})
/** Stores a bought label, unless it is no longer wanted. */
export const storeBoughtLabel = statement({
  name: 'shipping.store_bought_label',
  takes: {
    id: 'uuid',
    carrier: 'text',
    tracking_number: 'text',
    tracking_key: 'text',
    media_type: 'text',
    document: 'bytea'
  },
  text: `
    update shipping.labels set status = 'ready', carrier = $carrier, tracking_number = $tracking_number,
      tracking_key = $tracking_key, media_type = $media_type, document = $document, problem = null, ${changed}
    where id = $id and status = 'requested'`
})
/** Changes the status of a label that has the status `before`. */
export const updateLabelStatus = statement({
  name: 'shipping.update_label_status',
  takes: {
    id: 'uuid',
    before: oneOf<LabelStatus>(),
    status: oneOf<LabelStatus>(),
    problem: 'text?'
  },
  text: `
    update shipping.labels set status = $status, problem = $problem, ${changed}
    where id = $id and status = $before`
})
/** Marks the current label of a shipment as to be voided, and returns its id. */
export const startVoidingLabel = statement({
  name: 'shipping.start_voiding_label',
  takes: { shipment_id: 'uuid' },
  gives: { id: 'uuid' },
  text: `
    update shipping.labels set status = 'voiding', document = null, media_type = null, problem = null, ${changed}
    where shipment_id = $shipment_id and status in ('requested', 'ready') returning id`
})
/**
 * Marks the current labels of an order's removed shipments as to be voided, and returns their ids. Once a parcel was sent, it may
 * have such a label without naming its tracking number, so labels stay.
 */
export const startVoidingUnusedLabels = statement({
  name: 'shipping.start_voiding_unused_labels',
  takes: { order_id: 'uuid' },
  gives: { id: 'uuid' },
  text: `
    update shipping.labels set status = 'voiding', document = null, media_type = null, problem = null, ${changed}
    where order_id = $order_id and status in ('requested', 'ready')
      and not exists (select from shipping.shipments s where s.id = labels.shipment_id)
      and not exists (
        select from shipping.shipments s
        where s.order_id = $order_id and s.sent_at is not null and s.voided_at is null
      )
    returning id`
})
/** Assigns the label with this tracking number to the parcel that was shipped with it. */
export const assignLabelToParcel = statement({
  name: 'shipping.assign_label_to_parcel',
  takes: { order_id: 'uuid', shipment_id: 'uuid', tracking_key: 'text' },
  text: `
    update shipping.labels set shipment_id = $shipment_id, ${changed}
    where order_id = $order_id and tracking_key = $tracking_key and status = 'ready'`
})
/** Deletes the documents and tracking numbers of the labels of these orders. */
export const eraseLabels = statement({
  name: 'shipping.erase_labels',
  takes: { order_ids: 'uuid[]' },
  text: `
    update shipping.labels set document = null, media_type = null, tracking_number = null, tracking_key = null,
      problem = null, ${changed}
    where order_id = any ($order_ids)`
})
/** Deletes a batch of old documents. The labels stay. */
export const deleteOldLabelDocuments = statement({
  name: 'shipping.delete_old_label_documents',
  takes: { days: 'int4', limit: 'int8' },
  text: `
    update shipping.labels set document = null, media_type = null, ${changed} where id in (
      select id from shipping.labels
      where document is not null and created_at < now() - make_interval(days => $days)
      order by created_at limit $limit for update skip locked)`
})
export type LabelRow = RowOf<typeof findLabel>
