/** How things stand for who tries to log in, in seconds; `turnIn` is negative when their turn has come. */
export type Standing = {
  ownLevel: number
  turnIn: number | null
  isKnown: boolean
}
/** What a try takes: `own` of this network, `account` also of what all unknown networks share. */
export type Admission = { charge: 'own' | 'account' } | { waitSeconds: number }

/** How long failures count: a used-up budget is whole again after that. */
export const WINDOW_SECONDS = 900
/** Between two tries of all networks that an account is not known from, once their budget is used up. */
export const TRICKLE_SECONDS = 10
/** The same for second factors: a code of six digits is guessed in fewer tries than a password. */
export const CODE_TRICKLE_SECONDS = 300
/** So many networks' budgets may be used up before there is only the trickle. */
const NETWORKS = 5
/** How long a network may take to use its turn. */
export const TURN_SECONDS = 60
/** The longest wait that a refusal names. */
const QUEUE_SECONDS_MAX = 3_600
export const ROUNDING_SECONDS = 0.001 // sums of fractions are not exact

export const ownCost = (failuresMax: number): number => WINDOW_SECONDS / failuresMax
const burstSeconds = (failuresMax: number, trickleSeconds: number): number =>
  NETWORKS * failuresMax * trickleSeconds
export const accountMax = (failuresMax: number, trickleSeconds: number): number =>
  burstSeconds(failuresMax, trickleSeconds) + QUEUE_SECONDS_MAX

/** How long who was charged the account's budget has to wait for it; 0 when it was not used up. */
export const turnWait = (
  accountLevel: number,
  failuresMax: number,
  trickleSeconds = TRICKLE_SECONDS
): number => Math.max(0, accountLevel - burstSeconds(failuresMax, trickleSeconds))

/**
 * Whether somebody may try a password. Each network has a budget of its own for an account, and all that the account is
 * not known from share one beside it. Where that is used up, whoever comes gets a turn: one every 10 seconds, in the
 * order in which they came, one a network. So a stranger needs a network more for every 10 seconds that the owner waits,
 * and the owner waits not at all where they were in before.
 */
export function admission({ ownLevel, turnIn, isKnown }: Standing, failuresMax: number): Admission {
  const ownWait = ownLevel + ownCost(failuresMax) - WINDOW_SECONDS
  if (ownWait > ROUNDING_SECONDS) return { waitSeconds: ownWait }
  if (isKnown) return { charge: 'own' }
  if (turnIn === null || turnIn < -TURN_SECONDS) return { charge: 'account' }
  return turnIn > 0 ? { waitSeconds: turnIn } : { charge: 'own' }
}

/**
 * Whose tries are counted together: IPv4 by /24, IPv6 by /48, because whoever has one address there easily has the
 * others. `network` is what the gateway limits by: an IPv4 address, or the /64 of an IPv6 one.
 */
export function neighbourhoodOf(network: string): string {
  const address = network.replace(/^::ffff:(?=\d+\.)/, '')
  return address.includes(':')
    ? address.split(':').slice(0, 3).join(':')
    : address.split('.').slice(0, 3).join('.')
}
