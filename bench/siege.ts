import { cpuMicroseconds } from './cpu.ts'
import type { Flood, openFlood } from './flood.ts'

/** Requests of one side, all from the addresses that they name. */
export type Side = Pick<Flood, 'connections' | 'rate' | 'requests' | 'source'>
/** Anything else that disturbs the shop for so many seconds, such as a dead Redis. Resolves with what was sent, if anything. */
export type Disturbance = (seconds: number, url: string) => Promise<unknown>
/** Where the other clients send their requests, and the process whose CPU is counted. */
export type Target = { readonly url: string; readonly pid: number }

export type Siege = {
  readonly name: string
  /** The other clients: what they see is the result. */
  readonly others: Side
  readonly attack: Side | Disturbance
  /** What runs beside the other clients in the control run. It is sent as often as the attack was. */
  readonly harmless: Omit<Side, 'rate'>
}
/** `cpu`: what the program used, as a share of one core. */
type Seen = { readonly success: number; readonly p50: number; readonly cpu: number; readonly attacks: string }
type Pair = { readonly attacked: Seen; readonly control: Seen; readonly ratio: number }
export type Verdict = {
  readonly pairs: readonly Pair[]
  /** Share of the other clients' requests that were answered 2xx within 2 s: the median over the pairs. */
  readonly success: number
  /** Their median duration under attack over the one in the control run: the median over the pairs. */
  readonly ratio: number
  readonly holds: boolean
}

const SUCCESS_MIN = 0.99
const RATIO_MAX = 1.5
const PAIRS = 5
const SECONDS = 8

/**
 * Attacks a shop and measures what other clients see, beside a control run of equally many harmless requests.
 * Five pairs, one after the other, so that both runs of a pair meet the same machine.
 */
export async function besiege(
  flood: ReturnType<typeof openFlood>,
  { url, pid }: Target,
  { others, attack, harmless }: Siege,
  { pairs: count = PAIRS, seconds = SECONDS } = {}
): Promise<Verdict> {
  const run = async (beside: Side | Disturbance) => {
    const disturbing =
      typeof beside === 'function' ? beside(seconds, url) : flood.run({ ...beside, url, seconds })
    const usedBefore = cpuMicroseconds([pid])
    const [seen, attacks] = await Promise.all([flood.run({ ...others, url, seconds }), disturbing])
    const cpu = (cpuMicroseconds([pid]) - usedBefore) / 1_000_000 / seconds
    return { seen, cpu, attacks: isFlooded(attacks) ? attacks : undefined }
  }
  const pairs: Pair[] = []
  for (let number = 0; number < count; number += 1) {
    const attacked = await run(attack)
    // The control run sends as much as the attack did: one that waits for its answers sends less than it would.
    const rate = Math.max(1, (attacked.attacks?.sent ?? 0) / seconds)
    const control = await run({ ...harmless, rate })
    const [first, second] = [seenOf(attacked), seenOf(control)]
    pairs.push({ attacked: first, control: second, ratio: first.p50 / Math.max(0.1, second.p50) })
  }
  const success = median(pairs.map(({ attacked }) => attacked.success))
  const ratio = median(pairs.map(pair => pair.ratio))
  return { pairs, success, ratio, holds: success >= SUCCESS_MIN && ratio <= RATIO_MAX }
}

type Flooded = Awaited<ReturnType<ReturnType<typeof openFlood>['run']>>
const isFlooded = (value: unknown): value is Flooded =>
  typeof value === 'object' && value !== null && 'sent' in value

function seenOf({ seen, cpu, attacks }: { seen: Flooded; cpu: number; attacks: Flooded | undefined }): Seen {
  const { good, refused, other, failed, unsent, p50 } = seen
  return {
    success: good / Math.max(1, good + refused + other + failed + unsent),
    p50,
    cpu,
    attacks:
      attacks === undefined
        ? ''
        : `${attacks.sent} sent, ${attacks.good} 2xx, ${attacks.refused} 503, ${attacks.other} other`
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** The pairs as lines of a table, and the verdict. */
export function reportOf(name: string, { pairs, success, ratio, holds }: Verdict): string {
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`
  const lines = pairs.map(({ attacked, control, ratio: each }, index) => {
    const cells = [
      index + 1,
      ...[percent(attacked.success), `${attacked.p50} ms`, percent(attacked.cpu)],
      ...[percent(control.success), `${control.p50} ms`, percent(control.cpu)],
      ...[each.toFixed(2), attacked.attacks]
    ]
    return `| ${cells.join(' | ')} |`
  })
  return [
    `## ${name}`,
    '| pair | others under attack | median | CPU | others, control | median | CPU | ratio | the attack |',
    '|---:|---:|---:|---:|---:|---:|---:|---:|---|',
    ...lines,
    `${holds ? 'HOLDS' : 'FAILS'}: ${percent(success)} of the others' requests succeed, their median is ${ratio.toFixed(2)} times the control's\n`
  ].join('\n')
}
