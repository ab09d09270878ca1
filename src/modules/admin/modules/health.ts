import type { BacklogRow } from '../../../platform/outbox/overview.ts'

type Module = { readonly name: string; readonly enabled: boolean; readonly requires: readonly string[] }
type Health = 'up' | 'degraded' | 'off'
type Work = Pick<BacklogRow, 'handler' | 'dead' | 'oldest_seconds' | 'latest_error'>

/** What waits longer is not on its way any more. */
const STUCK_SECONDS = 60

/**
 * How a module is, and why it is not up. `isOn`: the modules that run, by name. `backlog` is undefined while the database does
 * not answer.
 */
export function healthOf(
  { name, enabled, requires }: Module,
  isOn: ReadonlySet<string>,
  backlog: readonly Work[] | undefined
): { health: Health; reasons: string[] } {
  if (!enabled) {
    const missing = requires.filter(each => !isOn.has(each))
    return {
      health: 'off',
      reasons: [
        `It is switched off (modules.${name}.enabled).`,
        ...missing.map(each => `It requires ${each}, which is off, too (modules.${each}.enabled).`)
      ]
    }
  }
  const reasons =
    backlog === undefined
      ? ['The database does not answer.']
      : backlog.filter(({ handler }) => moduleOf(handler) === name).flatMap(troublesOf)
  return { health: reasons.length === 0 ? 'up' : 'degraded', reasons }
}

/** `cart:catalog.changed` is heard by cart, and `orders.expire_orders` is a job of orders. */
const moduleOf = (handler: string) => /^[^:.]+/.exec(handler)?.[0]

function troublesOf({ handler, dead, oldest_seconds, latest_error }: Work): string[] {
  const because = latest_error === null ? '' : ` The latest error: ${latest_error}`
  const troubles = []
  if (dead > 0) troubles.push(`${handler}: ${dead} given up, see /api/admin/events.${because}`)
  if (oldest_seconds >= STUCK_SECONDS)
    troubles.push(`${handler}: the oldest has waited for ${Math.floor(oldest_seconds)} s.${because}`)
  return troubles
}
