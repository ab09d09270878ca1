import { setTimeout as delay } from 'node:timers/promises'
import { type Static, Type, wire } from '../src/index.ts'

const AT_ONCE = 64

/** What of a round crosses HTTP, beside what is done in it. */
export const round = {
  seconds: Type.Integer({ minimum: 1, maximum: 8 }),
  per_second: Type.Integer({ minimum: 0, description: `0: as many as ${AT_ONCE} at once can.` })
}
export const RoundResponse = wire.response('BenchRoundResponse', { per_second: Type.Number() })
type Round = { readonly seconds: number; readonly per_second: number }

/** Does `work` for a while, in the process that is measured, and answers how often a second. */
export async function runRound(
  { seconds, per_second }: Round,
  work: (number: number) => Promise<unknown>
): Promise<Static<typeof RoundResponse>> {
  const startedAt = performance.now()
  const elapsed = () => (performance.now() - startedAt) / 1_000
  let begun = 0
  const workOnce = () => {
    begun += 1
    return work(begun)
  }
  if (per_second === 0) {
    const worker = async () => {
      while (elapsed() < seconds) await workOnce()
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  } else {
    // A request is sent when it is due, whether or not earlier ones are answered.
    const all: Promise<unknown>[] = []
    for (; elapsed() < seconds; await delay(1)) while (begun < elapsed() * per_second) all.push(workOnce())
    await Promise.all(all)
  }
  return { per_second: begun / elapsed() }
}

/** Asks a shop for rounds of this path, and answers what came of each. */
export const askForRounds =
  (address: string, body: object) =>
  async (seconds: number, per_second: number): Promise<number> => {
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, seconds, per_second })
    })
    if (response.status !== 200) throw new Error(await response.text())
    return ((await response.json()) as { per_second: number }).per_second
  }
