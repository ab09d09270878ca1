import { definePort } from '../../../kernel/ports.ts'

/** Media types of label documents. Each is safe to download from the shop's own address. */
export const LABEL_MEDIA_TYPES = ['application/pdf', 'image/png', 'application/zpl'] as const
type LabelMediaType = (typeof LABEL_MEDIA_TYPES)[number]

/**
 * Parts of the recipient's address. Fields that the buyer left empty are missing.
 * @example
 * const isDomestic = ({ country }: LabelRecipient): boolean => country === 'SE'
 */
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

/**
 * A parcel that needs a label.
 * @example
 * const isHeavy = ({ weightGrams }: LabelRequest): boolean => weightGrams > 20_000
 */
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

/**
 * A label, or why the carrier will never make one for this request, for administrators.
 * @example
 * const refused: LabelResult = { kind: 'refused', reason: 'The parcel is too heavy.' }
 */
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

/**
 * Buys labels of a carrier.
 * @example
 * const label = { carrier: 'Post', mediaType: 'application/zpl', document: Buffer.from('^XA^XZ') } as const
 * const post: ShippingLabelProvider = {
 *   createLabel: async ({ key }) => ({ kind: 'label', ...label, trackingNumber: key }),
 *   voidLabel: async () => {}
 * }
 */
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
