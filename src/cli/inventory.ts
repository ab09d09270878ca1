import type { Module } from '../module.ts'
import { inventoryModule, type StockLedgerCheckReport } from '../modules/inventory/index.ts'
import { withShopModulesForCommand } from './with-shop.ts'

/** Prints the discrepancies of the stock ledger and repairs them with `repair`. Exit code 1 when some remain. */
export async function checkStockLedger(
  modules: readonly Module[],
  { repair, json }: { repair: boolean; json: boolean }
): Promise<void> {
  const report = await withShopModulesForCommand(modules, ({ apiOf }) =>
    apiOf(inventoryModule).check({ repair })
  )
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : describe(report))
  if (report.repaired < report.total) process.exitCode = 1
}

function describe({ findings, total, repaired }: StockLedgerCheckReport): string {
  const lines = findings.map(finding => `${finding.kind}: ${whereOf(finding)}: ${finding.detail}\n`)
  if (total > findings.length) lines.push(`and ${total - findings.length} more\n`)
  const end = total === 0 ? 'No discrepancies found.\n' : `${total} found, ${repaired} repaired.\n`
  return lines.join('') + end
}

function whereOf(finding: StockLedgerCheckReport['findings'][number]): string {
  if ('requestId' in finding) return `request ${finding.requestId}`
  if ('owner' in finding) return `owner ${finding.owner}`
  return `item ${finding.itemId}, location ${finding.locationId}`
}
