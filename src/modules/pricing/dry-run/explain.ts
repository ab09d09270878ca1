import type { Queryable } from '../../../platform/postgres/database.ts'
import { listStopped } from '../codes/repository.ts'
import type { CodeFinding, Finding } from '../quote/findings.ts'
import { type Circumstances, reasonOf } from './reasons.ts'

/** Why a code has no effect, for administrators. */
export type Explained = {
  readonly finding: CodeFinding
  /** Null: nobody knows the code. */
  readonly promotionId: string | null
  readonly reason: string
}

/** What is to be said of the codes of a quote that was made of the same. One statement, where codes are not known to rules. */
export const createExplain =
  (db: Queryable) =>
  async (findings: readonly Finding[], given: Circumstances): Promise<Explained[]> => {
    const ofCodes = findings.filter(finding => 'promotionCode' in finding)
    const unknown = ofCodes.filter(({ code }) => code === 'CODE_UNKNOWN').map(each => each.promotionCode)
    const stopped = unknown.length === 0 ? [] : await db.rows(listStopped, { codes: unknown })
    const { promotions, codes } = given.rules
    return ofCodes.map(finding => {
      const out = stopped.find(({ code }) => code === finding.promotionCode)
      const promotionId = codes.get(finding.promotionCode)?.promotionId ?? out?.promotion_id ?? null
      const promotion = promotions.find(({ id }) => id === promotionId)
      return { finding, promotionId, reason: reasonOf(finding, promotion, out, given) }
    })
  }
export type Explain = ReturnType<typeof createExplain>
