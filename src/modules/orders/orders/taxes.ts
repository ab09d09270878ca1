import type { PriceComponentRow } from './repository.ts'

type TaxSummary = {
  tax_category: string
  rate_ppm: number
  net: number
  tax: number
  gross: number
  exempt: string | null
}

/** Adds up the taxes of an order by rate, category and exemption. */
export function summarizeOrderTaxes(components: readonly PriceComponentRow[]): TaxSummary[] {
  const summaries = new Map<string, TaxSummary>()
  for (const { kind, tax_category, rate_ppm, base, amount, exempt } of components) {
    if (kind !== 'tax' || tax_category === null || rate_ppm === null) continue
    const key = `${rate_ppm} ${tax_category} ${exempt ?? ''}`
    const { net, tax } = summaries.get(key) ?? { net: 0, tax: 0 }
    const sums = { net: net + (base ?? 0), tax: tax + amount }
    summaries.set(key, { tax_category, rate_ppm, ...sums, gross: sums.net + sums.tax, exempt })
  }
  return [...summaries.values()]
}
