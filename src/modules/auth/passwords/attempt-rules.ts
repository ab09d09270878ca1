/** Budgets of a login attempt, in seconds; `turnIn` is negative once the reserved turn has come. */
export type LoginThrottleState = {
  ownLevel: number
  turnIn: number | null
  isKnown: boolean
}
/** What an attempt is charged to: `own` budget of the network, or also `account`, which unknown networks share. */
export type LoginAttemptDecision = { charge: 'own' | 'account' } | { waitSeconds: number }

/** Seconds in which an exhausted budget of login attempts refills. */
export const LOGIN_BUDGET_REFILL_SECONDS = 900
/** Seconds between two attempts of all networks unknown to an account, once their shared budget is exhausted. */
export const UNKNOWN_NETWORK_LOGIN_INTERVAL_SECONDS = 10
/** Seconds between two such attempts with a code. Longer, because six digits are guessed in fewer attempts than a password. */
export const UNKNOWN_NETWORK_CODE_ATTEMPT_INTERVAL_SECONDS = 300
/** Number of network budgets that fit into the shared budget of unknown networks. */
const NETWORKS = 5
/** Seconds in which a network can use the attempt that was reserved for it. */
export const LOGIN_ATTEMPT_RESERVATION_SECONDS = 60
/** Longest wait that an error reports, in seconds. */
const QUEUE_SECONDS_MAX = 3_600
export const LOGIN_BUDGET_TOLERANCE_SECONDS = 0.001 // sums of fractions are not exact

export const loginAttemptCostSeconds = (failuresMax: number): number =>
  LOGIN_BUDGET_REFILL_SECONDS / failuresMax
const burstSeconds = (failuresMax: number, trickleSeconds: number): number =>
  NETWORKS * failuresMax * trickleSeconds
export const sharedLoginBudgetCapacitySeconds = (failuresMax: number, trickleSeconds: number): number =>
  burstSeconds(failuresMax, trickleSeconds) + QUEUE_SECONDS_MAX

/** Returns the wait after charging the shared budget; 0 when it was not exhausted. */
export const secondsUntilReservedLoginAttempt = (
  accountLevel: number,
  failuresMax: number,
  trickleSeconds = UNKNOWN_NETWORK_LOGIN_INTERVAL_SECONDS
): number => Math.max(0, accountLevel - burstSeconds(failuresMax, trickleSeconds))

/**
 * Decides whether a login attempt is allowed. Each network has its own budget per account. Networks that are unknown to the
 * account also share a budget. Once that is exhausted, each network gets one turn, 10 seconds apart, in order of arrival.
 * So an attacker needs one more network for each 10 seconds that the owner waits. From a known network the owner never waits.
 */
export function decideLoginAttempt(
  { ownLevel, turnIn, isKnown }: LoginThrottleState,
  failuresMax: number
): LoginAttemptDecision {
  const ownWait = ownLevel + loginAttemptCostSeconds(failuresMax) - LOGIN_BUDGET_REFILL_SECONDS
  if (ownWait > LOGIN_BUDGET_TOLERANCE_SECONDS) return { waitSeconds: ownWait }
  if (isKnown) return { charge: 'own' }
  if (turnIn === null || turnIn < -LOGIN_ATTEMPT_RESERVATION_SECONDS) return { charge: 'account' }
  return turnIn > 0 ? { waitSeconds: turnIn } : { charge: 'own' }
}

/**
 * Returns the prefix by which attempts are counted: /24 for IPv4, /48 for IPv6, because its addresses often belong to one
 * client. `network` is the one of the gateway's limits: an IPv4 address, or the /64 of an IPv6 address.
 */
export function loginNetworkPrefixOf(network: string): string {
  const address = network.replace(/^::ffff:(?=\d+\.)/, '')
  return address.includes(':')
    ? address.split(':').slice(0, 3).join(':')
    : address.split('.').slice(0, 3).join('.')
}
