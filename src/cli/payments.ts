import { OperatorError } from '../kernel/errors.ts'
import type { Module } from '../module.ts'
import { type PaymentReconciliationReport, paymentsModule } from '../modules/payments/index.ts'
import { parseInstantOption } from './instant.ts'
import { withShopModulesForCommand } from './with-shop.ts'

const LINE_EVERY_OBJECTS = 1_000

type Options = { since: string; record: boolean; json: boolean }

/**
 * Prints payments and refunds of providers since `since` that the database does not have. Records them with `record`.
 * Exit code 1 when some are still not recorded.
 */
export async function reconcilePayments(
  modules: readonly Module[],
  { since, record, json }: Options
): Promise<void> {
  const options = { since: parseInstantOption('--since', since), record }
  if (options.since.getTime() > Date.now()) throw new OperatorError(`--since ${since} is in the future.`)
  const report = await withShopModulesForCommand(modules, ({ apiOf }) =>
    apiOf(paymentsModule).reconcile(options, progress)
  )
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : describe(report))
  if (report.recorded < report.total) process.exitCode = 1
}

/** Prints progress to standard error, because standard output is for the report. */
function progress(looked: number): void {
  if (looked % LINE_EVERY_OBJECTS === 0) process.stderr.write(`${looked} objects checked\n`)
}

function describe({ looked, findings, total, recorded, quarantined }: PaymentReconciliationReport): string {
  const lines = findings.map(
    ({ provider, objectId, orderId, detail, outcome }) =>
      `${provider} ${objectId}, order ${orderId ?? 'unknown'}: ${detail}${outcome === 'found' ? '' : ` (${outcome})`}\n`
  )
  if (total > findings.length) lines.push(`and ${total - findings.length} more\n`)
  const end =
    total === 0
      ? `All objects are recorded (${looked} checked).\n`
      : `${total} of ${looked} objects were not recorded: ${recorded} recorded now, ${quarantined} quarantined.\n`
  return lines.join('') + end
}
