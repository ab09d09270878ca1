import { openSite, type Site } from '../faults/network/site.ts'
import { createTraffic, type Traffic } from '../faults/network/traffic.ts'
import { startBalancer } from '../support/balancer.ts'
import { SECRET_SETTINGS } from '../support/secrets.ts'
import type { Dice } from './dice.ts'
import { type Goods, stockShop } from './goods.ts'
import { openReceivers, type Receivers } from './receivers.ts'
import { openSandboxProcess, type Sandbox } from './sandbox.ts'

const ADMIN = { email: 'boss@example.com', password: 'an uncommon sentence' }
const SETTINGS = {
  ...SECRET_SETTINGS,
  CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
  CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password,
  CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
  CARTWRIGHT__AUTH__ACCESS_TOKEN_SECONDS: '86400',
  // So long a delivery of a process that died is not taken over, and a little more.
  CARTWRIGHT__WEBHOOKS__TIMEOUT_SECONDS: '5',
  CARTWRIGHT__LOG__LEVEL: 'error',
  CARTWRIGHT__SHOP__DEMO: 'on',
  CARTWRIGHT__SHOP__CURRENCY: 'EUR',
  CARTWRIGHT__ORDERS__EXPIRY__MINUTES: '1',
  CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '1000000',
  CARTWRIGHT__ORDERS__PENDING_PER_ADDRESS: '1000000',
  // Buyers of chaos share one network, and many of their cards are declined.
  CARTWRIGHT__PAYMENTS__FAILED_ATTEMPTS_PER_HOUR: '1000'
}
/** Clocks of two processes may differ by a minute, and no token is refused for it. */
const CLOCK_SECONDS_MAX = 30
const SKEWED_CLOCK = new URL('./skewed-clock.ts', import.meta.url).href

/** A shop in one or more processes, with a provider of payments that calls back to any of them. */
export type Stage = {
  site: Site
  sandbox: Sandbox
  traffic: Traffic
  goods: Goods
  receivers: Receivers
  /** The statements at which processes were killed, and when. */
  diedAt: Set<string>
  /** By how much the clock of each process is wrong, in seconds. */
  clocks: readonly number[]
  close(): Promise<void>
}

export async function openStage(
  processes: number,
  capture: 'automatic' | 'manual',
  dice: Dice
): Promise<Stage> {
  const clocks = Array.from(
    { length: processes },
    () => dice.below(2 * CLOCK_SECONDS_MAX + 1) - CLOCK_SECONDS_MAX
  )
  const balancer = await startBalancer()
  const sandbox = await openSandboxProcess(`${balancer.origin}/api/payments/callback/sandbox`)
  const receivers = await openReceivers(dice.split())
  const ends = [() => sandbox.close(), () => balancer.close(), () => receivers.close()]
  const close = async () => {
    for (const end of ends) await end()
  }
  try {
    const settings = {
      ...SETTINGS,
      ...receivers.settings,
      CARTWRIGHT__PAYMENTS__SANDBOX__URL: sandbox.url,
      CARTWRIGHT__PAYMENTS__CAPTURE: capture
    }
    const site = await openSite(processes, settings, at => ({
      NODE_OPTIONS: `--import=${SKEWED_CLOCK}`,
      CLOCK_SKEW_MS: String((clocks[at] ?? 0) * 1_000)
    }))
    ends.unshift(() => site.close())
    const origins = site.processes.map(({ origin }) => origin)
    balancer.use(origins)
    const traffic = createTraffic(origins)
    ends.unshift(async () => traffic.anywhere.close())
    return {
      site,
      sandbox,
      traffic,
      goods: await stockShop(traffic, ADMIN, receivers.webhookUrl),
      receivers,
      diedAt: new Set(),
      clocks,
      close
    }
  } catch (error) {
    await close()
    throw error
  }
}
