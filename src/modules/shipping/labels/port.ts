import { definePort } from '../../../kernel/ports.ts'

/** Media types of label documents. Each is safe to download from the shop's own address. */
export const LABEL_MEDIA_TYPES = ['application/pdf', 'image/png', 'application/zpl'] as const
type LabelMediaType = (typeof LABEL_MEDIA_TYPES)[number]

/** Parts of the recipient's address. Fields that the buyer left empty are missing. */
export type LabelRecipient = {
  readonly name?: string
  readonly company?: string
  readonly line1?: string
  readonly line2?: string
  readonly city?: string
  readonly region?: string
  readonly postal_code?: string
  readonly country: string
  readonly phone?: string
}

/** A parcel that needs a label. */
export type LabelRequest = {
  /** Idempotency key: the same in every attempt of one label. */
  readonly key: string
  readonly shipmentId: string
  readonly orderId: string
  readonly orderNumber: string
  /** Code of the service that the administrator chose. Null: the provider chooses by carrier and name of the option. */
  readonly service: string | null
  /** The shipping option that the buyer chose, as the buyer saw it. */
  readonly option: { readonly carrier: string | null; readonly name: string | null }
  readonly recipient: LabelRecipient
  readonly weightGrams: number
  readonly lines: readonly { readonly sku: string; readonly name: string; readonly quantity: number }[]
}

/** A label, or why the carrier will never make one for this request, for administrators. */
export type LabelResult =
  | {
      readonly kind: 'label'
      /** Code or name of the carrier, as in `/api/admin/shipping/carriers`. */
      readonly carrier: string
      readonly trackingNumber: string
      readonly mediaType: LabelMediaType
      /** At most 5 MB. */
      readonly document: Uint8Array
    }
  | { readonly kind: 'refused'; readonly reason: string }

/** Buys labels of a carrier. */
export type ShippingLabelProvider = {
  /**
   * Buys a label. A repeated call with the same key returns the first label and buys none, also after a call whose response
   * was lost. Rejects when it is not known whether the label was bought: the call is then repeated.
   */
  createLabel(request: LabelRequest, signal: AbortSignal): Promise<LabelResult>
  /** Voids the label of this key, so that it is not charged. Does nothing when it is voided already, or was never bought. */
  voidLabel(
    label: { readonly key: string; readonly trackingNumber: string | null },
    signal: AbortSignal
  ): Promise<void>
}

/** Providers of shipping labels, such as carriers. */
export const shippingLabelsPort = definePort<ShippingLabelProvider>('shipping.labels', {
  description: 'Buys and voids shipping labels.',
  providers: 'many'
})
