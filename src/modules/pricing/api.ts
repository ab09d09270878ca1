import type { MetadataCommands } from '../../platform/metadata-command.ts'
import type { Database, Queryable, Transaction, TransactionRunner } from '../../platform/postgres/database.ts'
import type { ExplainPromotionCodeFindingsToAdmin } from './dry-run/finding-explainer.ts'
import type { Market } from './markets/directory.ts'
import type { MarketPriceList } from './prices/uncached.ts'
import type { PromotionRedemption } from './quote/promotions.ts'
import type { computeQuote } from './quote/quote.ts'
import type { ReadQuoteRules } from './quote-rules/service.ts'
import type { TransactionWithPromotionRedemptions } from './redemptions/redeem.ts'
import type { ComputeQuoteByTaxEngine } from './tax-engine/service.ts'

/** API of pricing for other modules. Pricing does not interpret ids of variants, products and categories. */
export type PricingApi = {
  /**
   * Where the shop sells, in which currency, and by which price list.
   * @example
   * const market = await pricing.markets.resolve({ country: 'SE' })
   * assert.ok(pricing.markets.isCurrent(market))
   * const all = await pricing.markets.list()
   * assert.ok(all.some(({ code }) => code === market.code))
   * await assert.rejects(pricing.markets.resolve({ name: 'mars' }), { code: 'PRICING_MARKET_UNKNOWN' })
   */
  markets: {
    /**
     * Returns the market of this name, else of this country, else the default market. From memory, current
     * within a second.
     * @throws `PRICING_MARKET_UNKNOWN` with the known markets
     */
    resolve(wanted: { name?: string | undefined; country?: string | undefined }): Promise<Market>
    /** Whether `resolve` would return the same object again, from memory. False when it may have changed. */
    isCurrent(market: Market): boolean
    /** Returns the active markets. */
    list(): Promise<readonly Market[]>
  }
  /**
   * Returns the unit price of each variant at its quantity in this market, in order, in minor units.
   * `undefined`: the list has no price for the variant, so the catalog's price applies. From memory, or one
   * statement for all missing prices.
   * @example
   * const [price] = await pricing.prices([{ variantId, quantity: 1 }], { priceListId })
   * assert.equal(price, 900)
   */
  prices(
    wanted: readonly { readonly variantId: string; readonly quantity: number }[],
    market: Pick<Market, 'priceListId'>
  ): Promise<(number | undefined)[]>
  /**
   * Reads the price lists of all markets, in this transaction.
   * @example
   * const [list] = await pricing.marketLists(db)
   * assert.equal(list?.id, priceListId)
   */
  marketLists(db: Queryable): Promise<MarketPriceList[]>
  /**
   * Reads the same as `prices` for each of these lists, in this transaction. One statement.
   * @example
   * const lists = await pricing.marketLists(db)
   * assert.deepEqual(await pricing.pricesIn(db, lists, [{ variantId, quantity: 1 }]), [[900]])
   */
  pricesIn(
    db: Queryable,
    lists: readonly MarketPriceList[],
    wanted: readonly { readonly variantId: string; readonly quantity: number }[]
  ): Promise<(number | undefined)[][]>
  /**
   * Computes the price of a basket. Pure. @throws `PRICING_QUOTE_TOO_LARGE`
   * @example
   * const { buyer, ...rules } = await pricing.readRules({ codes: [], customer: customerId })
   * const mugs = { key: 'mugs', variantId, productId: newId(), categoryIds: [], quantity: 2, group: 'all' }
   * const price = { priceMinor: 1_000, discountedPriceMinor: 900, taxCategory: null }
   * const { totals } = pricing.quote({
   *   market: await pricing.markets.resolve({}),
   *   lines: [{ ...mugs, ...price, requiresShipping: false, weightGrams: 0 }],
   *   groups: [{ key: 'all', method: 'digital', destination: null, choice: null }],
   *   codes: [],
   *   buyer: { ...buyer, group: null },
   *   rules: { ...rules, ratesOf: () => [] },
   *   now: Date.now()
   * })
   * assert.equal(totals.totalMinor, 1_800)
   */
  quote: typeof computeQuote
  /**
   * Returns the function that computes a quote with the taxes of the tax engine, outside of transactions. `undefined`: the
   * shop has no engine.
   * @example
   * assert.equal(pricing.quoteByTaxEngine(), undefined)
   */
  quoteByTaxEngine(): ComputeQuoteByTaxEngine | undefined
  /**
   * Reads what a quote needs: promotions (also those of the codes), taxes, and the buyer's uses,
   * first-order status and tax exemptions. `customer`: the account, or a keyed hash of a guest. `mailbox`:
   * the keyed hash of the buyer's e-mail address, to also count paid orders of that address. From memory,
   * except codes and limited promotions.
   * @example
   * const { buyer, codes } = await pricing.readRules({ codes: ['tenth'], customer: customerId })
   * assert.equal(codes.get('TENTH')?.promotionId, promotionId)
   * assert.equal(buyer.isFirstOrder, true)
   */
  readRules: ReadQuoteRules
  /**
   * Explains to administrators why codes have no effect in a quote of the same rules.
   * @example
   * const { buyer, ...rules } = await pricing.readRules({ codes: ['none'], customer: customerId })
   * const context = { market: await pricing.markets.resolve({}), buyer: { ...buyer, group: null }, rules }
   * const finding = { code: 'CODE_UNKNOWN', promotionCode: 'NONE', message: 'Not known here.' } as const
   * const [explained] = await pricing.explainFindings([finding], context)
   * assert.equal(explained?.reason, 'There is no such code.')
   */
  explainFindings: ExplainPromotionCodeFindingsToAdmin
  /**
   * Opens transactions that redeem these redemptions of a quote. Only a few transactions per limited
   * promotion run at a time; waiting transactions hold no connection: `write.once(pricing.serializedBy(db,
   * quote.redemptions), work)`.
   * @example
   * const runner = pricing.serializedBy(db, [{ promotionId, code: 'TENTH' }])
   * await newWrite().once(runner, tx => pricing.redeem(tx, newId(), customerId))
   */
  serializedBy(
    db: Database,
    redemptions: readonly PromotionRedemption[]
  ): TransactionRunner<TransactionWithPromotionRedemptions>
  /**
   * Redeems for `owner` what the transaction was opened for. Idempotent. `customer` and `mailbox` as in
   * `readRules`. Limited uses are counted at commit, which then fails with `PRICING_USED_UP`.
   * @throws `PRICING_CUSTOMER_LIMIT`, `PRICING_FIRST_ORDER_TAKEN`, `PRICING_PROMOTION_GONE`
   * @example
   * const owner = newId()
   * const redeem = () =>
   *   pricing
   *     .serializedBy(db, [{ promotionId, code: 'TENTH' }])
   *     .transaction(tx => pricing.redeem(tx, owner, customerId))
   * await redeem()
   * await redeem()
   * const { buyer } = await pricing.readRules({ codes: ['tenth'], customer: customerId })
   * assert.equal(buyer.used.get(promotionId), 1)
   */
  redeem(
    tx: TransactionWithPromotionRedemptions,
    owner: string,
    customer: string,
    mailbox?: string | null
  ): Promise<void>
  /**
   * Counts the redemptions of a paid order for the mailbox of its buyer. Before payment they count for
   * `customer` only, because a typed e-mail address proves nothing. Idempotent.
   * @example
   * const [owner, mailbox] = [newId(), `hash of ${customerId}`]
   * const redemptions = [{ promotionId, code: 'TENTH' }]
   * await pricing.serializedBy(db, redemptions).transaction(tx => pricing.redeem(tx, owner, customerId))
   * await db.transaction(tx => pricing.countPaidRedemptions(tx, owner, mailbox))
   * const { buyer } = await pricing.readRules({ codes: ['tenth'], customer: newId(), mailbox })
   * assert.equal(buyer.used.get(promotionId), 1)
   */
  countPaidRedemptions(tx: Transaction, owner: string, mailbox: string): Promise<void>
  /**
   * Releases all redemptions of `owner` within the caller's transaction. Idempotent.
   * @example
   * const owner = newId()
   * const redemptions = [{ promotionId, code: 'TENTH' }]
   * await pricing.serializedBy(db, redemptions).transaction(tx => pricing.redeem(tx, owner, customerId))
   * await db.transaction(tx => pricing.release(tx, owner))
   * const { buyer } = await pricing.readRules({ codes: ['tenth'], customer: customerId })
   * assert.equal(buyer.used.get(promotionId), 0)
   */
  release(tx: Transaction, owner: string): Promise<void>
  /**
   * Changes the metadata of price lists. @throws `PRICING_PRICE_LIST_NOT_FOUND`, `METADATA_LIMIT`, `METADATA_INVALID`
   * @example
   * const change = { metadata: { season: 'autumn' } }
   * const { metadata } = await pricing.priceLists.updateMetadata(priceListId, change, newWrite())
   * assert.deepEqual(metadata, { season: 'autumn' })
   */
  readonly priceLists: MetadataCommands
  /**
   * Changes the metadata of promotions. @throws `PRICING_PROMOTION_NOT_FOUND`, `METADATA_LIMIT`, `METADATA_INVALID`
   * @example
   * const change = { private_metadata: { campaign: 'A7' } }
   * const updated = await pricing.promotions.updateMetadata(promotionId, change, newWrite())
   * assert.deepEqual(updated.private_metadata, { campaign: 'A7' })
   */
  readonly promotions: MetadataCommands
}
