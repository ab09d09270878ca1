/** Whether it is paid before it is looked after, later, or when it arrives. */
export type Terms = 'prepaid' | 'on_account' | 'cod'

/** Who is to be paid, and by which method. */
export type Choice = { readonly provider?: string | undefined; readonly method?: string | undefined }

/** Not an object, which would know `constructor`, too: clients say what they like. */
const TERMS: ReadonlyMap<string, Terms> = new Map([
  ['cash_on_delivery', 'cod'],
  ['on_account', 'on_account']
])

/** Whether an order waits for its money: what is paid by other means than these does. */
export const termsOf = (payment: Choice | undefined): Terms => TERMS.get(payment?.method ?? '') ?? 'prepaid'

/** Whether the money of such a payment moves later, and not while the buyer is there. */
export const isDeferred = (method: string | undefined): boolean =>
  method === 'bank_transfer' || TERMS.has(method ?? '')

/** For how many seconds an order waits for its money: usually, and when it comes by bank transfer. */
export type Waits = {
  readonly usual: number
  readonly transfer: number
  /** For a bank transfer of a buyer who has verified their e-mail address. */
  readonly transferOfVerified: number
}

/**
 * How long it waits, when it may be paid by these methods. With none, an order that was to be paid by transfer waits as long as before:
 * its payment is begun anew when less is due.
 */
export const waitOf = (
  methods: readonly (string | undefined)[],
  { usual, transfer, transferOfVerified }: Waits,
  { isVerified, isDeferred: wasDeferred }: { readonly isVerified: boolean; readonly isDeferred: boolean }
): number => {
  const isByTransfer = methods.includes('bank_transfer') || (methods.length === 0 && wasDeferred)
  if (!isByTransfer) return usual
  return isVerified ? transferOfVerified : transfer
}

/** How an order is paid later, which one of these methods says; `undefined`: it is paid first. */
export const laterTermsOf = (methods: readonly string[]): Terms | undefined =>
  methods.map(method => termsOf({ method })).find(terms => terms !== 'prepaid')
