import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import type { Finding } from './findings.ts'
import { CheckQuery, StockCheckResponse, StockRepairResponse } from './schema.ts'
import type { CheckService } from './service.ts'

export function checkRoutes(tiers: Tiers, { list, check }: CheckService): void {
  tiers.admin.get(
    '/inventory/check',
    {
      config: { class: 'bulk' },
      schema: {
        summary: 'Where the books of the stock contradict each other',
        querystring: CheckQuery,
        response: { 200: StockCheckResponse }
      }
    },
    async request => {
      const found = await list(request.query, () => request.visit?.progressed())
      return { ...found, findings: found.findings.map(shown) }
    }
  )

  tiers.admin.post(
    '/inventory/repair',
    {
      config: {
        class: 'bulk',
        unwritten: 'it is many transactions, and done once more it repairs what is left'
      },
      schema: {
        summary: 'Put right where the books of the stock contradict each other',
        response: { 200: StockRepairResponse }
      }
    },
    async request => {
      const options = { repair: true, actor: identityOf(request).userId }
      const { findings, left, ...report } = await check(options, () => request.visit?.progressed())
      return { ...report, findings: findings.map(shown), left: left.map(shown) }
    }
  )
}

const shown = (finding: Finding) => ({
  kind: finding.kind,
  detail: finding.detail,
  variant_id: 'locationId' in finding ? finding.itemId : null,
  location_id: 'locationId' in finding ? finding.locationId : null,
  owner: 'owner' in finding ? finding.owner : null,
  request_id: 'requestId' in finding ? finding.requestId : null
})
