import { expect } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { brokenLedgers } from '../chaos/judge.ts'
import { usePaidOrders } from '../support/paid-orders.ts'
import { type Moment, momentName, type Sent, startVictim, victims } from './deaths.ts'
import { until } from './until.ts'

const UNITS = 1_000
const NOTHING_EXCUSED = { takenLate: new Set<string>(), keptBack: new Set<string>() }

/** `npm run faults:deaths`: at every writing statement and every commit, instead of a selection. */
const EVERY = process.env.EVERY_STATEMENT !== undefined
export const TIMEOUT_MS = EVERY ? 1_800_000 : 120_000

/** Only the dying process does the work of its transaction. */
const HOLD = `
  create function hold() returns trigger language plpgsql as $$
    begin new.due_at := 'infinity'; return new; end $$;
  create trigger hold before insert on cartwright.jobs for each row
    when (new.handler = 'payments.send_operation') execute function hold()`
const LET_GO = `update cartwright.jobs set due_at = now() where handler = 'payments.send_operation' and due_at = 'infinity'`

/** A shop with a sandbox as its payment provider, and with processes that die. */
export async function useMortalShop(capture: 'automatic' | 'manual') {
  const many = { CARTWRIGHT__ORDERS__PENDING_PER_ADDRESS: '1000' }
  const shop = await usePaidOrders({ capture, settings: many })
  await shop.stock(shop.mug, UNITS)
  const settings = {
    ...many,
    CARTWRIGHT__PAYMENTS__SANDBOX__URL: shop.sandbox.url,
    CARTWRIGHT__PAYMENTS__CAPTURE: capture
  }
  return {
    ...shop,
    settings,
    keyed: (request: Omit<Sent, 'headers'>): Sent => ({
      ...request,
      headers: { 'idempotency-key': newId() }
    }),
    /** At each of these moments, or at all that there are, a process dies that was sent what `prepare` answers. */
    eachDeath: async (
      told: readonly Moment[],
      prepare: () => Promise<Sent>,
      goOn: (moment: string, index: number, request: Sent) => Promise<void>
    ) => {
      /** All moments of a request, by what a process sends that lives. */
      const observe = async () => {
        const request = await prepare()
        const moments = await (await startVictim(shop, settings)).momentsOf(request)
        await goOn('no process dies', 1, request)
        return moments
      }
      await shop.sql(HOLD)
      const moments = EVERY ? await observe() : told
      let index = 0
      for await (const victim of victims(moments.length, shop, settings)) {
        const moment = moments[index] as Moment
        const request = await prepare()
        await victim.dieAt(moment, request, EVERY)
        // The leases of the killed process expire.
        await shop.sql(`update cartwright.idempotency_keys set lease_until = now() where state = 'running'`)
        await shop.sql(LET_GO)
        await goOn(momentName(moment), index, request)
        index += 1
      }
      await shop.sql('drop function hold cascade')
      await shop.sql(LET_GO)
    },
    /** Retries as a client does until it succeeds. Every other response allows a retry. */
    retried: async (moment: string, { method, path, ...options }: Sent) => {
      let answer: Awaited<ReturnType<typeof shop.request>> | undefined
      await until(`${moment}: the retry is answered`, async () => {
        answer = await shop.request(method, path, options)
        const isLater = answer.status === 503 || answer.json?.code === 'IDEMPOTENCY_KEY_IN_PROGRESS'
        return !isLater
      })
      expect(answer?.status, `${moment}: ${answer?.text}`).toBeLessThan(300)
      return answer?.json
    },
    /** Waits until all work is done, and checks the ledger against that of the provider. */
    proveBooks: async () => {
      await shop.settled()
      await expect.poll(() => brokenLedgers(shop, shop.sandbox, NOTHING_EXCUSED)).toEqual([])
    }
  }
}
