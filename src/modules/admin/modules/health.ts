import type { HandlerBacklogRow } from '../../../platform/outbox/administration-queries.ts'

type ModuleState = { readonly name: string; readonly enabled: boolean; readonly requires: readonly string[] }
type Health = 'up' | 'degraded' | 'off'
type HandlerBacklog = Pick<HandlerBacklogRow, 'handler' | 'dead' | 'oldest_seconds' | 'latest_error'>

/** An event or job that waits longer than this counts as stuck. */
const STUCK_SECONDS = 60

/**
 * Returns the health of a module, and the reasons when it is not up. `enabledNames`: names of the enabled modules. `backlog`
 * is undefined while the database does not respond.
 */
export function resolveModuleHealth(
  { name, enabled, requires }: ModuleState,
  enabledNames: ReadonlySet<string>,
  backlog: readonly HandlerBacklog[] | undefined
): { health: Health; reasons: string[] } {
  if (!enabled) {
    const missing = requires.filter(each => !enabledNames.has(each))
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
      ? ['The database does not respond.']
      : backlog.filter(({ handler }) => moduleOf(handler) === name).flatMap(backlogProblems)
  return { health: reasons.length === 0 ? 'up' : 'degraded', reasons }
}

/** The module of `cart:catalog.changed`, an event that cart handles, is cart. That of the job `orders.expire_orders` is orders. */
const moduleOf = (handler: string) => /^[^:.]+/.exec(handler)?.[0]

function backlogProblems({ handler, dead, oldest_seconds, latest_error }: HandlerBacklog): string[] {
  const cause = latest_error === null ? '' : ` The latest error: ${latest_error}`
  const problems = []
  if (dead > 0) problems.push(`${handler}: ${dead} failed permanently, see /api/admin/events.${cause}`)
  if (oldest_seconds >= STUCK_SECONDS)
    problems.push(`${handler}: the oldest has waited for ${Math.floor(oldest_seconds)} s.${cause}`)
  return problems
}
