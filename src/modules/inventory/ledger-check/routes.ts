import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import type { StockLedgerFinding } from './findings.ts'
import { StockCheckResponse, StockLedgerCheckQuery, StockRepairResponse } from './schema.ts'
import type { StockLedgerCheckService } from './service.ts'

export function stockLedgerCheckRoutes(tiers: Tiers, { list, check }: StockLedgerCheckService): void {
  tiers.admin.get(
    '/inventory/check',
    {
      config: { class: 'bulk' },
      schema: {
        summary: 'Check the stock ledger',
        description:
          'Compares stock levels with movements and reservations, and returns the discrepancies. It changes nothing. A large ledger is checked in parts of a few seconds: send `rest_cursor` as `cursor` until it is null.',
        querystring: StockLedgerCheckQuery,
        response: { 200: StockCheckResponse }
      }
    },
    async request => {
      const found = await list(request.query, () => request.slot?.reportProgress())
      return { ...found, findings: found.findings.map(shown) }
    }
  )

  tiers.admin.post(
    '/inventory/repair',
    {
      config: {
        class: 'bulk',
        noReplay: 'it is many transactions, and a retry repairs what is left'
      },
      schema: {
        summary: 'Repair the stock ledger',
        description:
          'Finds discrepancies of the whole stock ledger and corrects those that it can. Each correction is a movement of kind `repair`. `left` lists the discrepancies that remain. Repeating the request repairs what is left.',
        response: { 200: StockRepairResponse }
      }
    },
    async request => {
      const options = { repair: true, actor: identityOf(request).userId }
      const { findings, left, ...report } = await check(options, () => request.slot?.reportProgress())
      return { ...report, findings: findings.map(shown), left: left.map(shown) }
    }
  )
}

const shown = (finding: StockLedgerFinding) => ({
  kind: finding.kind,
  detail: finding.detail,
  variant_id: 'locationId' in finding ? finding.itemId : null,
  location_id: 'locationId' in finding ? finding.locationId : null,
  owner: 'owner' in finding ? finding.owner : null,
  request_id: 'requestId' in finding ? finding.requestId : null
})
