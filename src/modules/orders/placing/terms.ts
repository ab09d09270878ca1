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

/** For how many seconds an order waits for its money: usually, and when it comes by bank transfer. */
export type Waits = { readonly usual: number; readonly transfer: number }

/** How long it waits, when it may be paid by these methods. */
export const waitOf = (methods: readonly (string | undefined)[], { usual, transfer }: Waits): number =>
  methods.includes('bank_transfer') ? transfer : usual

/** How an order is paid later, which one of these methods says; `undefined`: it is paid first. */
export const laterTermsOf = (methods: readonly string[]): Terms | undefined =>
  methods.map(method => termsOf({ method })).find(terms => terms !== 'prepaid')
