import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { victimProgram } from '../support/program.ts'
import { useStock } from '../support/use-stock.ts'

const SCRIPT = victimProgram('stock-buyer')
const STEPS = 10

type Shared = Awaited<ReturnType<typeof useStock>>

/** Starts a process that buys. `acknowledged` has the number of lines by owner. */
function startBuyer({ url, itemIds }: Shared, baskets: number, ...how: string[]) {
  const child = spawn(process.execPath, [SCRIPT, url, itemIds.join(','), String(baskets), ...how], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const acknowledged = new Map<string, number>()
  createInterface(child.stdout).on('line', line => {
    const [owner = '', lines] = line.split(' ')
    acknowledged.set(owner, Number(lines))
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, acknowledged, ended: once(child, 'close') }
}

/** Each acknowledged reservation exists with all of its lines. */
async function proveAcknowledged({ sql }: Shared, acknowledged: ReadonlyMap<string, number>) {
  const rows = await sql(
    `select owner, count(*)::int as lines from inventory.reservations
     where owner = any ($1) and state = 'held' group by owner`,
    [[...acknowledged.keys()]]
  )
  expect(Object.fromEntries(rows.map(({ owner, lines }) => [owner, lines]))).toEqual(
    Object.fromEntries(acknowledged)
  )
}

test.each(['', 'flushed'])(
  'a process that dies at any step of a stock batch (%s) leaves an exact stock ledger',
  async flushed => {
    const shared = await useStock({ items: 3, onHand: 100_000 })
    const steps = Array.from({ length: STEPS }, (_, index) => index + 8)
    for (let at = 0; at < steps.length; at += 2) {
      const dying = steps.slice(at, at + 2).map(step => startBuyer(shared, 20, String(step), flushed))
      for (const { ended } of dying) expect((await ended)[1]).toBe('SIGKILL')
      await shared.expectConsistentStock()
      for (const { acknowledged } of dying) await proveAcknowledged(shared, acknowledged)
    }
    const lines = shared.itemIds.map(variantId => ({ variantId, quantity: 1 }))
    await shared.stock.buy(newId(), lines)
    await shared.expectConsistentStock()
  },
  90_000
)

test('killed processes lose no acknowledged stock reservation', async () => {
  const shared = await useStock({ items: 4, onHand: 1_000_000 })
  const survivor = startBuyer(shared, 60)
  for (let kills = 0; kills < 3; kills += 1) {
    const victim = startBuyer(shared, 100_000)
    const enough = Promise.withResolvers<void>()
    victim.child.stdout.on('data', () => victim.acknowledged.size > 100 * (kills + 1) && enough.resolve())
    await enough.promise
    victim.child.kill('SIGKILL')
    await victim.ended
    await proveAcknowledged(shared, victim.acknowledged)
  }
  expect((await survivor.ended)[0]).toBe(0)
  expect(survivor.acknowledged.size).toBe(16 * 60)
  await proveAcknowledged(shared, survivor.acknowledged)
  await shared.expectConsistentStock()
})
