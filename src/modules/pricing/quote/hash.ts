import { createHash } from 'node:crypto'
import type { Component } from './components.ts'
import type { QuoteLine } from './input.ts'

/**
 * What two quotes have in common that cost the same: variants, quantities, groups, delivery and amounts. Names, codes and
 * promotions are not part of it, nor is whether one of them took something off a line or two together.
 */
export function hashOf(
  currency: string,
  lines: readonly QuoteLine[],
  components: readonly Component[]
): string {
  const lineOf = new Map(lines.map(line => [line.key, line]))
  const sums = new Map<string, number>()
  for (const { kind, line: key, group, option, included, amountMinor } of components) {
    const line = key === undefined ? undefined : lineOf.get(key)
    const what = [kind, key, line?.variantId, line?.quantity, line?.group ?? group, option, included]
    const row = JSON.stringify(what.map(each => each ?? null))
    sums.set(row, (sums.get(row) ?? 0) + amountMinor)
  }
  const rows = [...sums].map(([row, amount]) => `${row} ${amount} ${currency}\n`).sort()
  return createHash('sha256').update(rows.join('')).digest('hex')
}
