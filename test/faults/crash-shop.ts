import { expect } from 'vitest'
import { giftCardsModule } from '../../examples/gift-cards/gift-cards/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { brokenLedgers } from '../chaos/judge.ts'
import { usePaidOrders } from '../support/paid-orders.ts'
import {
  type CrashPoint,
  crashPointName,
  type SentRequest,
  startVictim,
  startVictims,
  type VictimModule
} from './crash-points.ts'
import { providerModule } from './provider-module.ts'
import { until } from './until.ts'

const UNITS = 1_000
const NO_EXCEPTIONS = { takenLate: new Set<string>(), keptBack: new Set<string>() }

/** `npm run faults:deaths`: at every writing statement and every commit, instead of a selection. */
const AT_EVERY_STATEMENT = process.env.EVERY_STATEMENT !== undefined
export const TIMEOUT_MS = AT_EVERY_STATEMENT ? 1_800_000 : 120_000

/** Only the dying process does the work of its transaction. */
const HOLD_OPERATIONS = `
  create function hold() returns trigger language plpgsql as $$
    begin new.due_at := 'infinity'; return new; end $$;
  create trigger hold before insert on cartwright.jobs for each row
    when (new.handler = 'payments.send_operation') execute function hold()`
const RELEASE_OPERATIONS = `update cartwright.jobs set due_at = now() where handler = 'payments.send_operation' and due_at = 'infinity'`

const MODULES = { 'gift-cards': giftCardsModule, providers: providerModule } as const

/** A shop with a sandbox as its payment provider, and with processes that die. `parts`: modules besides those of a checkout. */
export async function useCrashShop(
  capture: 'automatic' | 'manual',
  parts: readonly VictimModule[] = [],
  more: Readonly<Record<string, string>> = {}
) {
  const withManyOrders = {
    CARTWRIGHT__ORDERS__PENDING_PER_ADDRESS: '1000',
    CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '1000',
    ...more
  }
  const others = parts.map(part => MODULES[part])
  const shop = await usePaidOrders({ capture, settings: withManyOrders, others })
  await shop.stock(shop.mug, UNITS)
  const settings = {
    ...withManyOrders,
    CARTWRIGHT__PAYMENTS__SANDBOX__URL: shop.sandbox.url,
    CARTWRIGHT__PAYMENTS__CAPTURE: capture
  }
  return {
    ...shop,
    settings,
    keyed: (request: Omit<SentRequest, 'headers'>): SentRequest => ({
      ...request,
      headers: { 'idempotency-key': newId() }
    }),
    /** Sends the request of `prepare` to a process that crashes at each selected point, or at every point in a full run. */
    atEachCrashPoint: async (
      selected: readonly CrashPoint[],
      prepare: () => Promise<SentRequest>,
      afterCrash: (crashPoint: string, index: number, request: SentRequest) => Promise<void>
    ) => {
      /** Lists all crash points of a request from the statements of a process that survives. */
      const observe = async () => {
        const request = await prepare()
        const crashPoints = await (await startVictim(shop, settings, ...parts)).crashPointsOf(request)
        await afterCrash('no process dies', 1, request)
        return crashPoints
      }
      await shop.sql(HOLD_OPERATIONS)
      const crashPoints = AT_EVERY_STATEMENT ? await observe() : selected
      let index = 0
      for await (const victim of startVictims(crashPoints.length, shop, settings, ...parts)) {
        const crashPoint = crashPoints[index] as CrashPoint
        const request = await prepare()
        await victim.crashDuring(crashPoint, request, AT_EVERY_STATEMENT)
        // The leases of the killed process expire.
        await shop.sql(`update cartwright.idempotency_keys set lease_until = now() where state = 'running'`)
        await shop.sql(RELEASE_OPERATIONS)
        await afterCrash(crashPointName(crashPoint), index, request)
        index += 1
      }
      await shop.sql('drop function hold cascade')
      await shop.sql(RELEASE_OPERATIONS)
    },
    /** Retries as a client does until it succeeds. Every other response allows a retry. */
    retried: async (crashPoint: string, { method, path, ...options }: SentRequest) => {
      let answer: Awaited<ReturnType<typeof shop.request>> | undefined
      await until(`${crashPoint}: the retry is answered`, async () => {
        answer = await shop.request(method, path, options)
        const isLater = answer.status === 503 || answer.json?.code === 'IDEMPOTENCY_KEY_IN_PROGRESS'
        return !isLater
      })
      expect(answer?.status, `${crashPoint}: ${answer?.text}`).toBeLessThan(300)
      return answer?.json
    },
    /** Waits until all work is done, and checks the ledger against that of the provider. */
    expectMatchingLedgers: async () => {
      await shop.settled()
      await expect.poll(() => brokenLedgers(shop, shop.sandbox, NO_EXCEPTIONS)).toEqual([])
    }
  }
}
