import { derivedId } from '../../../kernel/ids.ts'
import type { PortReader } from '../../../kernel/ports.ts'
import { sumBy } from '../../../kernel/sum-by.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { tenderCoversTooLittleError, tenderProviderMissingError, tenderTypeUnknownError } from '../errors.ts'
import { coverTotal, type TenderAmounts } from './allocation.ts'
import { type TenderProvider, type TenderQuery, tenderPort } from './port.ts'
import * as repository from './repository.ts'

/** A tender that a buyer names with an order. */
export type NamedTender = {
  /** The name of a provider. */
  readonly type: string
  readonly code: string
  /** What it must cover, in minor units. Default: as much as it can. */
  readonly amount?: number | undefined
}
/** What tenders shall cover, and for which buyer. */
export type TotalToCover = Pick<TenderQuery, 'currency' | 'buyer'> & {
  readonly totalMinor: number
  readonly named: readonly NamedTender[]
}
/** A tender that covers a part of an order. */
export type OrderTender = TenderAmounts & { readonly type: string }
type ReservedTender = repository.NewTenderRow

type Deps = { db: Database; ports: PortReader }
type OrderWithTenders = { readonly id: string; readonly tendered: number }

/**
 * Seconds that a tender stays reserved while its order is placed. If the process dies, the reservation expires.
 */
const RESERVED_SECONDS = 120

/**
 * The life of the tenders of an order, from top to bottom: preview, reserve, confirm or release, refund. How much each one
 * covers and gets back is decided in `allocation.ts`. An order without tenders runs no statement here.
 */
export function createOrderTenders({ db, ports }: Deps) {
  const providers = () => ports.all(tenderPort)

  /** @throws `ORDER_TENDER_TYPE_UNKNOWN` */
  function providerNamed(type: string): TenderProvider {
    const found = providers().find(({ name }) => name === type)
    if (found === undefined)
      throw tenderTypeUnknownError({ details: { types: providers().map(({ name }) => name) } })
    return found.provider
  }

  /**
   * Covers the total with the tenders. `ask` previews or reserves one. @throws `ORDER_TENDER_SHORT` when a tender covers
   * nothing, or less than its `amount`
   */
  const cover = ({ totalMinor, named, currency, buyer }: TotalToCover, ask: AskProvider) =>
    coverTotal(totalMinor, named, async ({ type, code, amount }, wantedMinor, position) => {
      const query = { code, currency, buyer, amountMinor: wantedMinor }
      const { amountMinor, label } = await ask(providerNamed(type), query, position)
      if (!Number.isSafeInteger(amountMinor) || amountMinor < 0 || amountMinor > wantedMinor)
        throw new Error(`the tender provider ${type} covers ${amountMinor} of ${wantedMinor}`)
      if (amountMinor < (amount === undefined ? 1 : wantedMinor))
        throw tenderCoversTooLittleError({ details: { type, label, available: amountMinor } })
      return { type, label, amountMinor, position }
    })

  /** Runs a call for the tenders of each provider: providers in the order of their names, tenders in the order of their ids. */
  async function byProvider<T extends { readonly id: string; readonly type: string }>(
    tenders: readonly T[],
    call: (provider: TenderProvider, own: readonly T[]) => Promise<void>
  ): Promise<void> {
    for (const type of [...new Set(tenders.map(each => each.type))].toSorted()) {
      const found = providers().find(({ name }) => name === type)
      if (found === undefined) throw tenderProviderMissingError({ details: { type } })
      const own = tenders.filter(each => each.type === type)
      await call(
        found.provider,
        own.toSorted((one, other) => (one.id < other.id ? -1 : 1))
      )
    }
  }

  return {
    /** Returns what the tenders would cover now, and the rest. Reserves nothing. @throws as `reserve` */
    preview: (total: TotalToCover) => {
      const covered = new Map<string, number>()
      return cover(total, async (provider, { amountMinor, ...query }, position) => {
        // The preview of a code that is named again has to leave out what it covers already.
        const tender = JSON.stringify([total.named[position]?.type, query.code])
        const earlierMinor = covered.get(tender) ?? 0
        const previewed = await provider.preview({ ...query, amountMinor: amountMinor + earlierMinor })
        covered.set(tender, previewed.amountMinor)
        return { ...previewed, amountMinor: Math.max(0, previewed.amountMinor - earlierMinor) }
      })
    },

    /**
     * Reserves the tenders of a new order, before its transaction. When one fails, `release` those before it.
     * @throws `ORDER_TENDER_TYPE_UNKNOWN`, `ORDER_TENDER_SHORT`, and errors of providers
     */
    reserve: async (orderId: string, total: TotalToCover): Promise<readonly ReservedTender[]> => {
      const reserve: AskProvider = (provider, query, position) =>
        provider.reserve({ ...query, id: tenderIdOf(orderId, position), seconds: RESERVED_SECONDS })
      const { covers } = await cover(total, reserve)
      return covers.map(({ amountMinor: amount, position, ...others }) => ({
        ...others,
        id: tenderIdOf(orderId, position),
        position,
        amount
      }))
    },

    /** Takes the reserved tenders in the transaction that inserts the order. @throws errors of providers */
    confirm: async (tx: Transaction, orderId: string, tenders: readonly ReservedTender[]): Promise<void> => {
      if (tenders.length === 0) return
      await tx.run(repository.insertTenders, { order_id: orderId, tenders })
      await byProvider(tenders, (provider, own) => provider.confirm(tx, own.map(idOf)))
    },

    /** Gives back what was reserved for an order that was not placed. It never affects confirmed tenders. */
    release: async (orderId: string, named: readonly NamedTender[]): Promise<void> => {
      const known = new Set(providers().map(({ name }) => name))
      const reserved = named
        .map(({ type }, position) => ({ id: tenderIdOf(orderId, position), type }))
        .filter(({ type }) => known.has(type))
      if (reserved.length === 0) return
      await db.transaction(tx => byProvider(reserved, (provider, own) => provider.release(tx, own.map(idOf))))
    },

    /** Returns the tenders of an order that the transaction has locked. */
    list: async (tx: Transaction, { id, tendered }: OrderWithTenders): Promise<readonly OrderTender[]> => {
      if (tendered === 0) return []
      const rows = await tx.rows(repository.listTenders, { order_id: id })
      return rows.map(({ amount, refunded, ...row }) => ({
        ...row,
        amountMinor: amount,
        refundedMinor: refunded
      }))
    },

    /** Gives these amounts back. `refundId`: of the whole refund. @throws `ORDER_TENDER_PROVIDER_MISSING` */
    refund: async (
      tx: Transaction,
      refundId: string,
      tenders: readonly OrderTender[],
      parts: readonly { readonly id: string; readonly amountMinor: number }[]
    ): Promise<void> => {
      if (parts.length === 0) return
      const amountOf = new Map(parts.map(({ id, amountMinor }) => [id, amountMinor]))
      const amounts = parts.map(({ amountMinor }) => amountMinor)
      await tx.run(repository.addTenderRefunds, { ids: parts.map(idOf), amounts })
      const refunded = tenders.filter(({ id }) => amountOf.has(id))
      await byProvider(refunded, (provider, own) =>
        provider.refund(
          tx,
          own.map(({ id: tenderId }) => ({
            id: derivedId(refundId, `tender:${tenderId}`),
            tenderId,
            amountMinor: amountOf.get(tenderId) ?? 0
          }))
        )
      )
    }
  }
}
export type OrderTenders = ReturnType<typeof createOrderTenders>

type AskProvider = (
  provider: TenderProvider,
  query: TenderQuery,
  position: number
) => Promise<{ readonly amountMinor: number; readonly label: string }>

const idOf = ({ id }: { readonly id: string }) => id
const tenderIdOf = (orderId: string, position: number): string => derivedId(orderId, `tender:${position}`)

/** What tenders cover together. */
export const coveredByTenders = (tenders: readonly ReservedTender[]): number =>
  sumBy(tenders, ({ amount }) => amount)
