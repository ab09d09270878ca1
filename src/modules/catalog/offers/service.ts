import type { BuyingRule } from '../../../kernel/buying-rule.ts'
import { RecentMap } from '../../../kernel/recent-map.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { type Discount, isRunning, priceNow } from '../discounts/pricing.ts'
import { type Changes, deadlineOf } from '../revision/changes.ts'
import * as repository from './repository.ts'
import { variantNameOf } from './variant-name.ts'

/** One for all that have no rule: nearly every variant. */
const ANY_QUANTITY: BuyingRule = Object.freeze({ min: 1, max: null, step: 1 })

/** What somebody thinks of buying: of more, each may cost less. */
export type Wanted = { readonly variantId: string; readonly quantity: number }

/** What a variant is sold for at this moment. Amounts in minor units of `currency`. */
export type Offer = {
  readonly variantId: string
  readonly price: number
  /** Equals `price` when nothing is off. */
  readonly discountedPrice: number
  readonly currency: string
  readonly rule: BuyingRule
  /** 0 when nobody said so. */
  readonly weightGrams: number
  readonly requiresShipping: boolean
  /**
   * The descriptive fields as JSON text without the outer braces, ready to be joined into an answer:
   * `"variant_id":…,"product_id":…,"name":…,"variant_name":…,"slug":…,"sku":…,"price":…,"discounted_price":…,"image_url":…,"attributes":{…}`.
   */
  readonly json: string
}

/** An offer in the currency of the shop, and what takes something off it, whatever the price. */
export type Entry = {
  readonly offer: Offer
  readonly salePrice: number | null
  readonly running: readonly Discount[]
  /** What of the text of the offer stands before its price, and behind the discounted one. */
  readonly before: string
  readonly behind: string
  /** On the monotonic clock, in milliseconds: from then on all of this may be otherwise. */
  readonly deadline: number
}
export type Entries = (wanted: readonly Wanted[]) => Promise<(Entry | undefined)[]>
const NONE_RUNNING: readonly Discount[] = Object.freeze([])

// Key, objects and their place in the map: 260 with 100,000 entries (2026-11), and since then two fields, and two views of the text.
const ENTRY_OVERHEAD_BYTES = 380
const PRICE = ',"price":'
const RULE_BYTES = 48
const ABSENT_MAX = 10_000

type Deps = { db: Queryable; changes: Changes; currency: string; bytesMax: number }

/**
 * Offers by variant, kept in this process: the cart asks for them at every view. An entry goes when its variant is
 * changed by anybody, and at the next start or end of a discount that concerns it. While changes might be missed,
 * nothing is served from here.
 */
export function createEntries({ db, changes, currency, bytesMax }: Deps): Entries {
  const known = new RecentMap<Entry>(
    bytesMax,
    ({ offer }) => bytesOf(offer.json) + ENTRY_OVERHEAD_BYTES + (offer.rule === ANY_QUANTITY ? 0 : RULE_BYTES)
  )
  // Variants that do not exist or are not sold. Anybody can ask for any number of these, hence a place of their own.
  const absent = new RecentMap<true>(ABSENT_MAX)
  let generation = 0

  const forgetAll = () => {
    generation += 1
    known.clear()
    absent.clear()
  }
  changes.subscribe({
    onGap: forgetAll,
    onChange: variantIds => {
      if (variantIds === 'all') return forgetAll()
      generation += 1
      for (const id of variantIds) {
        known.delete(id)
        absent.delete(id)
      }
    }
  })

  async function load(
    wanted: readonly Wanted[],
    found: (Entry | undefined)[],
    missing: string[]
  ): Promise<(Entry | undefined)[]> {
    const startedAt = performance.now()
    const generationBefore = generation
    const rows = await db.rows(repository.listOffers, { ids: missing, currency })
    const loaded = new Map<string, Entry>()
    for (const row of rows) loaded.set(row.id, entryOf(row, currency, startedAt))
    // What was read before a change, and arrives after its announcement, is already old: it must not be kept.
    if (generation === generationBefore && changes.isLive()) {
      for (const id of missing) {
        const entry = loaded.get(id)
        if (entry === undefined) absent.set(id, true)
        else known.set(id, entry)
      }
    }
    return wanted.map(({ variantId }, index) => found[index] ?? loaded.get(variantId))
  }

  // Not async: when everything is in memory, one promise is all that it costs.
  return wanted => {
    const found: (Entry | undefined)[] = []
    const missing: string[] = []
    const isLive = changes.isLive()
    const now = performance.now()
    for (const { variantId: id } of wanted) {
      const entry = isLive ? known.get(id) : undefined
      const isFresh = entry !== undefined && now < entry.deadline
      found.push(isFresh ? entry : undefined)
      if (!isFresh && !(isLive && absent.get(id))) missing.push(id)
    }
    return missing.length === 0 ? Promise.resolve(found) : load(wanted, found, missing)
  }
}

/** In memory: text takes one byte a character, or two when one of them is beyond Latin-1. */
const bytesOf = (text: string) => (/[^\x00-\xff]/.test(text) ? 2 : 1) * text.length

function entryOf(row: repository.OfferRow, currency: string, loadedAt: number): Entry {
  const discounts = row.discounts ?? []
  const { discountedPrice, changesIn } = priceNow(row.price_minor, row.sale_price_minor, discounts)
  const running = discounts.filter(isRunning)
  const json = JSON.stringify({
    variant_id: row.id,
    product_id: row.product_id,
    name: row.name,
    variant_name: variantNameOf(row),
    slug: row.slug,
    sku: row.sku,
    price: row.price_minor,
    discounted_price: discountedPrice,
    image_url: row.image_url,
    attributes: row.attributes
  })
  // Through a buffer, so that it is one flat piece of memory: joining pieces at every view costs 1.4 times as much.
  const text = Buffer.from(json.slice(1, -1)).toString()
  // No text within can look like a member: its quotes are escaped.
  const start = text.indexOf(PRICE) + PRICE.length
  return {
    offer: {
      variantId: row.id,
      price: row.price_minor,
      discountedPrice,
      currency,
      rule: ruleOf(row),
      weightGrams: row.weight_grams ?? 0,
      requiresShipping: row.requires_shipping,
      json: text
    },
    salePrice: row.sale_price_minor,
    before: text.slice(0, start),
    behind: text.slice(text.indexOf(',"image_url":', start)),
    running: running.length === 0 ? NONE_RUNNING : running,
    deadline: deadlineOf(loadedAt, changesIn)
  }
}

const ruleOf = ({
  quantity_min: min,
  quantity_max: max,
  quantity_step: step
}: repository.OfferRow): BuyingRule =>
  min === 1 && max === null && step === 1 ? ANY_QUANTITY : { min, max, step }
