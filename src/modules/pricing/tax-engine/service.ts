import { hash } from 'node:crypto'
import type { PortProvider, PortReader } from '../../../kernel/ports.ts'
import {
  createProviderCaller,
  createProviderRequestLimit,
  PROVIDER_CALL_OUTCOMES
} from '../../../kernel/provider-caller.ts'
import type { OpenRequestBudget } from '../../../kernel/shared-request-budgets.ts'
import type { Config } from '../../../platform/core-settings.ts'
import type { WaitingRequest } from '../../../platform/idempotency/write.ts'
import type { Log } from '../../../platform/log.ts'
import type { Metrics } from '../../../platform/metrics/registry.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { ComponentTax, QuoteInput } from '../quote/input.ts'
import { computeQuote, listTaxableComponents, type Quote } from '../quote/quote.ts'
import { findTaxAnswerFault } from './answers.ts'
import { type TaxEngine, type TaxRequest, taxEnginePort } from './port.ts'
import * as repository from './repository.ts'

const ANSWER_MS_MAX = 2_000
const KEPT_SECONDS = 600
const DELETED_AT_ONCE = 1_000

type Deps = {
  config: Pick<Config, 'rate_limit'>
  openBudget: OpenRequestBudget
  db: Database
  log: Log
  metrics: Metrics
  ports: PortReader
}
/** The tax engine of the shop. `isFallback`: it failed, so the tax rates of the shop apply. */
export type AppliedTaxEngine = { readonly name: string; readonly isFallback: boolean }
type QuoteByTaxEngine = { readonly quote: Quote; readonly taxEngine: AppliedTaxEngine }
/**
 * Computes a quote with the taxes of the engine. `quote`: that of the input with the rates of the shop, which is returned
 * when the engine fails. `request` waits for it. Call it outside of a transaction. @throws `PROVIDER_REQUESTS_LIMITED`
 */
export type ComputeQuoteByTaxEngine = (
  quote: Quote,
  input: QuoteInput,
  request: WaitingRequest
) => Promise<QuoteByTaxEngine>

/**
 * Asks a tax engine for the taxes of baskets. An answer, or that there was none, is stored for some minutes, so that every
 * process calculates the same price for the same basket.
 */
export function createTaxEngineService({ config, openBudget, db, log, metrics, ports }: Deps) {
  const limitRequests = createProviderRequestLimit(openBudget, 'pricing.taxes', config.rate_limit)
  const requests = metrics.counter(
    'tax_requests',
    'Requests to the tax engine, by outcome. After each that is not valid, the tax rates of the shop apply.',
    { outcome: PROVIDER_CALL_OUTCOMES }
  )
  const call = createProviderCaller<readonly ComponentTax[]>({
    timeoutMs: ANSWER_MS_MAX,
    count: outcome => requests.add({ outcome }),
    warn: reason => log.warn(reason, 'no valid taxes of the tax engine: the tax rates of the shop apply')
  })

  /** Returns null when the engine fails, or is skipped because it failed before. */
  async function ask(
    { provider }: PortProvider<TaxEngine>,
    request: TaxRequest,
    key: Buffer
  ): Promise<readonly ComponentTax[] | null> {
    const taxes = await call(
      key.toString('hex'),
      async signal => provider.computeTaxes(request, signal),
      answer => findTaxAnswerFault(answer, request)
    )
    return taxes?.map(({ ratePpm, taxMinor }) => ({ ratePpm, taxMinor })) ?? null
  }

  async function readTaxes(
    engine: PortProvider<TaxEngine>,
    request: TaxRequest,
    { withoutSlot, clientNetwork }: WaitingRequest
  ): Promise<readonly ComponentTax[] | null> {
    const key = hash('sha256', JSON.stringify([engine.name, request]), 'buffer')
    const stored = await db.first(repository.findTaxAnswer, { request: key })
    if (stored !== undefined) return stored.taxes
    await limitRequests(clientNetwork)
    const taxes = await withoutSlot(() => ask(engine, request, key))
    const kept = await db.first(repository.storeTaxAnswer, { request: key, taxes, seconds: KEPT_SECONDS })
    if (kept === undefined) throw new Error('storing an answer of a tax engine returned no row')
    return kept.taxes
  }

  const engineOfShop = () => ports.all(taxEnginePort)[0]

  return {
    /** `undefined` without an engine, so that a shop with its own rates only waits for nothing. */
    quoteByEngine: (): ComputeQuoteByTaxEngine | undefined => {
      const engine = engineOfShop()
      if (engine === undefined) return undefined
      const { name } = engine
      return async (quote, input, waiting) => {
        const { code, currency, pricesIncludeTax } = input.market
        const components = listTaxableComponents(input)
        if (components.length === 0) return { quote, taxEngine: { name, isFallback: false } }
        const request = { market: code, currency, pricesIncludeTax, components }
        const taxes = await readTaxes(engine, request, waiting)
        return taxes === null
          ? { quote, taxEngine: { name, isFallback: true } }
          : { quote: computeQuote({ ...input, taxes }), taxEngine: { name, isFallback: false } }
      }
    },
    /** Returns how many answers it deleted. */
    deleteExpired: async (): Promise<number> =>
      engineOfShop() === undefined
        ? 0
        : db.run(repository.deleteExpiredTaxAnswers, { limit: DELETED_AT_ONCE })
  }
}
