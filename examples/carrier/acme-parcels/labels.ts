import type { LabelRequest, LabelResult, ShippingLabelProvider } from 'cartwright'
import { CARRIER, SERVICES, type SendToAcme, unexpected } from './client.ts'

/** A label as Acme Parcels returns it. `document` is in base64. */
type AcmeLabel = { readonly tracking_number: string; readonly document: string }

/**
 * Labels of Acme Parcels. Acme Parcels sells one label for each `reference`, which is the key of the request. A second
 * purchase gets 409, and then the first label is read.
 */
export const createAcmeLabels = (send: SendToAcme): ShippingLabelProvider => ({
  createLabel: async (request, signal) => {
    const path = `/labels/${request.key}`
    const sold = await send({ method: 'POST', path: '/labels', body: purchaseOf(request), signal })
    const { status, json } = sold.status === 409 ? await send({ method: 'GET', path, signal }) : sold
    if (status === 200 || status === 201) return labelOf(json as AcmeLabel)
    // Final, so that an administrator corrects the address or the weight.
    if (status === 422) return { kind: 'refused', reason: String((json as { error: unknown }).error) }
    // The label may have been bought, so the shop sends the request again.
    throw unexpected(status)
  },
  voidLabel: async ({ key }, signal) => {
    const { status } = await send({ method: 'DELETE', path: `/labels/${key}`, signal })
    // 404: it was never bought.
    if (status !== 204 && status !== 404) throw unexpected(status)
  }
})

const purchaseOf = ({ key, service, option, recipient, weightGrams, orderNumber }: LabelRequest) => ({
  reference: key,
  service: service ?? serviceNamed(option.name) ?? 'standard',
  recipient,
  weight_grams: weightGrams,
  note: orderNumber
})

/** The service of the option that the buyer chose. `undefined`: the option is not one of Acme Parcels. */
const serviceNamed = (name: string | null) => Object.keys(SERVICES).find(code => SERVICES[code] === name)

const labelOf = ({ tracking_number: trackingNumber, document }: AcmeLabel): LabelResult => ({
  kind: 'label',
  carrier: CARRIER,
  trackingNumber,
  mediaType: 'application/pdf',
  document: Buffer.from(document, 'base64')
})
