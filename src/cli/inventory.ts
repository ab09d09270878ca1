import type { Module } from '../module.ts'
import { type CheckReport, inventoryModule } from '../modules/inventory/index.ts'
import { withShop } from './with-shop.ts'

/** Prints where the books of the stock contradict each other. Exit code 1 when they still do behind it. */
export async function checkInventory(
  modules: readonly Module[],
  options: { repair: boolean }
): Promise<void> {
  const report = await withShop(modules, ({ apiOf }) => apiOf(inventoryModule).check(options))
  const { findings, total, repaired } = report
  for (const finding of findings)
    process.stdout.write(`${finding.kind}: ${whereOf(finding)}: ${finding.detail}\n`)
  if (total > findings.length) process.stdout.write(`and ${total - findings.length} more\n`)
  process.stdout.write(total === 0 ? 'The books are right.\n' : `${total} found, ${repaired} repaired.\n`)
  if (repaired < total) process.exitCode = 1
}

function whereOf(finding: CheckReport['findings'][number]): string {
  if ('requestId' in finding) return `request ${finding.requestId}`
  if ('owner' in finding) return `owner ${finding.owner}`
  return `item ${finding.itemId}, location ${finding.locationId}`
}
