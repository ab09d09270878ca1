import type { Queryable } from '../../../platform/postgres/database.ts'
import { listInactiveAmongPromotionCodes } from '../promotion-codes/repository.ts'
import type { PromotionCodeFinding, QuoteFinding } from '../quote/findings.ts'
import { explainPromotionCodeFinding, type PromotionCodeFindingContext } from './explain-finding.ts'

/** Why a code has no effect, for administrators. */
export type ExplainedPromotionCodeFinding = {
  readonly finding: PromotionCodeFinding
  /** The promotion of the code. Null: the code does not exist. */
  readonly promotionId: string | null
  readonly reason: string
}

/** Explains the code findings of a quote made of the same rules. One statement, only for unknown codes. */
export const createPromotionCodeFindingExplainer =
  (db: Queryable) =>
  async (
    findings: readonly QuoteFinding[],
    given: PromotionCodeFindingContext
  ): Promise<ExplainedPromotionCodeFinding[]> => {
    const ofCodes = findings.filter(finding => 'promotionCode' in finding)
    const unknown = ofCodes.filter(({ code }) => code === 'CODE_UNKNOWN').map(each => each.promotionCode)
    const stopped =
      unknown.length === 0 ? [] : await db.rows(listInactiveAmongPromotionCodes, { codes: unknown })
    const { promotions, codes } = given.rules
    return ofCodes.map(finding => {
      const out = stopped.find(({ code }) => code === finding.promotionCode)
      const promotionId = codes.get(finding.promotionCode)?.promotionId ?? out?.promotion_id ?? null
      const promotion = promotions.find(({ id }) => id === promotionId)
      return { finding, promotionId, reason: explainPromotionCodeFinding(finding, promotion, out, given) }
    })
  }
export type ExplainPromotionCodeFindingsToAdmin = ReturnType<typeof createPromotionCodeFindingExplainer>
