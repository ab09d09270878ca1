import { OperatorError } from '../kernel/errors.ts'
import type { Module } from '../module.ts'
import { paymentsModule, type ReconcileReport } from '../modules/payments/index.ts'
import { instantOf } from './instant.ts'
import { withShop } from './with-shop.ts'

const LINE_EVERY_OBJECTS = 1_000

type Options = { since: string; record: boolean; json: boolean }

/**
 * Prints what providers have done since then and is not known here, and takes it over when it is told to. Exit code 1 when
 * some of it still is not known behind it.
 */
export async function reconcilePayments(
  modules: readonly Module[],
  { since, record, json }: Options
): Promise<void> {
  const options = { since: instantOf('--since', since), record }
  if (options.since.getTime() > Date.now()) throw new OperatorError(`--since ${since} is in the future.`)
  const report = await withShop(modules, ({ apiOf }) => apiOf(paymentsModule).reconcile(options, progress))
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : describe(report))
  if (report.recorded < report.total) process.exitCode = 1
}

/** Standard output belongs to the report. */
function progress(looked: number): void {
  if (looked % LINE_EVERY_OBJECTS === 0) process.stderr.write(`${looked} objects looked at\n`)
}

function describe({ looked, findings, total, recorded, quarantined }: ReconcileReport): string {
  const lines = findings.map(
    ({ provider, objectId, orderId, detail, outcome }) =>
      `${provider} ${objectId}, order ${orderId ?? 'unknown'}: ${detail}${outcome === 'found' ? '' : ` (${outcome})`}\n`
  )
  if (total > findings.length) lines.push(`and ${total - findings.length} more\n`)
  const end =
    total === 0
      ? `All is known of ${looked} objects.\n`
      : `${total} not known of ${looked} objects: ${recorded} recorded, ${quarantined} quarantined.\n`
  return lines.join('') + end
}
