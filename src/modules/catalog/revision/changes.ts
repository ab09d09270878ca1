import type { Broadcast } from '../../../platform/broadcast.ts'
import type { Transaction } from '../../../platform/postgres.ts'
import * as repository from './repository.ts'

const TOPIC = 'catalog'
const ALL = 'all'
const IDS_A_MESSAGE = 200 // 7,400 of the 7,900 bytes that a message may have
const IDS_MAX = 5_000

export type Changes = {
  /** Brings the lowest prices of these products up to date. */
  reprice(tx: Transaction, productIds: readonly string[]): Promise<void>
  /**
   * Tells all processes, when `tx` commits, that the offers of these products (and of `goneVariantIds`) are others
   * now. The next to do so waits until `tx` ends: to be called last, and once.
   */
  publish(tx: Transaction, productIds: readonly string[], goneVariantIds?: readonly string[]): Promise<void>
}
/** Both, in this order: what a transaction that changes the catalog does last. */
export type Announce = Changes['publish']

export function changesOn(broadcast: Broadcast, currency: string): Changes {
  return {
    reprice: async (tx, productIds) => {
      await repository.lock(tx, productIds)
      await repository.reprice(tx, productIds, currency)
    },
    publish: async (tx, productIds, goneVariantIds = []) => {
      const ids = [...goneVariantIds, ...(await repository.listVariants(tx, productIds, IDS_MAX + 1))]
      await repository.bump(tx)
      if (ids.length > IDS_MAX) return broadcast.publish(tx, TOPIC, ALL)
      for (let start = 0; start === 0 || start < ids.length; start += IDS_A_MESSAGE) {
        await broadcast.publish(tx, TOPIC, ids.slice(start, start + IDS_A_MESSAGE).join(','))
      }
    }
  }
}

export const announceTo =
  ({ reprice, publish }: Changes): Announce =>
  async (tx, productIds, goneVariantIds) => {
    await reprice(tx, productIds)
    await publish(tx, productIds, goneVariantIds)
  }

// The clocks of this process and of the database may drift apart, and ours may stand still while a machine sleeps.
const TRUSTED_SECONDS = 3_600

/**
 * Until when, on the monotonic clock, something may be kept that was asked for at `startedAt` and changes in
 * `seconds` (`null`: not by itself), as the database's clock says.
 */
export const deadlineOf = (startedAt: number, seconds: number | null): number =>
  startedAt + Math.min(seconds ?? TRUSTED_SECONDS, TRUSTED_SECONDS) * 1_000

/** What changed: the variants whose offers may be others now; none when only pages are concerned. */
export type Change = readonly string[] | 'all'

/** Hears of every change. `onGap`: changes may have passed unheard, nothing that was known is certain any more. */
export function onChange(
  broadcast: Broadcast,
  subscriber: { onChange(variantIds: Change): void; onGap(): void }
): void {
  broadcast.subscribe(TOPIC, {
    onMessage: payload =>
      subscriber.onChange(payload === ALL ? ALL : payload.split(',').filter(id => id !== '')),
    onGap: () => subscriber.onGap()
  })
}
