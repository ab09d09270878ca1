import { fileURLToPath } from 'node:url'
import { openShopUnderFaults, type ShopUnderFaults } from '../faults/network/shop-under-faults.ts'
import { createTraffic, type Traffic } from '../faults/network/traffic.ts'
import { startBalancer } from '../support/balancer.ts'
import { GIFT_CARD_SETTINGS, giftCardsIn } from '../support/gift-cards.ts'
import { SECRET_SETTINGS } from '../support/secrets.ts'
import type { Dice } from './dice.ts'
import { createGoods, type ShopGoods } from './goods.ts'
import { openReceivers, type Receivers } from './receivers.ts'
import { openSandboxProcess, type Sandbox } from './sandbox.ts'

const ADMIN = { email: 'boss@example.com', password: 'an uncommon sentence' }
const SETTINGS = {
  ...SECRET_SETTINGS,
  ...GIFT_CARD_SETTINGS,
  CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
  CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password,
  CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
  CARTWRIGHT__AUTH__ACCESS_TOKEN_SECONDS: '86400',
  // The lease of a delivery lasts a little longer than this, so a dead process delays a delivery only briefly.
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
/** Maximum error of a clock. Two clocks may then differ by a minute, which tokens must tolerate. */
const CLOCK_SECONDS_MAX = 30
const SKEWED_CLOCK = new URL('./skewed-clock.ts', import.meta.url).href
const CARTWRIGHT_SOURCES = new URL('../support/cartwright-sources.ts', import.meta.url).href
const MAIN = fileURLToPath(new URL('./shop.ts', import.meta.url))
/** Balances of the gift cards, in minor units. Small ones are used up by some orders. */
const GIFT_CARDS = [10_000_000, 10_000_000, 10_000_000, 50_000, 5_000]

/** A shop in one or more processes, with a payment provider that sends callbacks to any of them. */
export type ChaosStage = {
  site: ShopUnderFaults
  sandbox: Sandbox
  traffic: Traffic
  goods: ShopGoods
  receivers: Receivers
  /** Statements before or behind which a process was killed. */
  diedAt: Set<string>
  /** Error of the clock of each process, in seconds. */
  clocks: readonly number[]
  close(): Promise<void>
}

export async function openStage(
  processes: number,
  capture: 'automatic' | 'manual',
  dice: Dice
): Promise<ChaosStage> {
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
    const environmentOf = (at: number) => ({
      NODE_OPTIONS: `--import=${CARTWRIGHT_SOURCES} --import=${SKEWED_CLOCK}`,
      CLOCK_SKEW_MS: String((clocks[at] ?? 0) * 1_000)
    })
    const site = await openShopUnderFaults(processes, settings, environmentOf, MAIN)
    ends.unshift(() => site.close())
    const origins = site.processes.map(({ origin }) => origin)
    balancer.use(origins)
    const traffic = createTraffic(origins)
    ends.unshift(async () => traffic.anywhere.close())
    const { issue } = giftCardsIn(site.sql)
    const giftCards = await Promise.all(GIFT_CARDS.map(balance => issue(balance, 'EUR')))
    return {
      site,
      sandbox,
      traffic,
      goods: { ...(await createGoods(traffic, ADMIN, receivers.webhookUrl)), giftCards },
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
