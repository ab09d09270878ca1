import { newId } from '../../src/kernel/ids.ts'
import { openSite, type Site } from '../faults/network/site.ts'
import { createTraffic, type Traffic } from '../faults/network/traffic.ts'
import { startBalancer } from '../support/balancer.ts'
import { SECRET_SETTINGS } from '../support/secrets.ts'
import type { Dice } from './dice.ts'
import { openSandboxProcess, type Sandbox } from './sandbox.ts'

const ADMIN = { email: 'boss@example.com', password: 'an uncommon sentence' }
const SETTINGS = {
  ...SECRET_SETTINGS,
  CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
  CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password,
  CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
  CARTWRIGHT__AUTH__ACCESS_TOKEN_SECONDS: '86400',
  CARTWRIGHT__LOG__LEVEL: 'error',
  CARTWRIGHT__SHOP__DEMO: 'on',
  CARTWRIGHT__SHOP__CURRENCY: 'EUR',
  CARTWRIGHT__ORDERS__EXPIRY__MINUTES: '1',
  CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '1000000',
  CARTWRIGHT__ORDERS__PENDING_PER_ADDRESS: '1000000'
}
const SCARCE_UNITS = 40
const CODE_USES = 30
/** So many buy at the same time. */
const CUSTOMERS = 6
/** Clocks of two processes may differ by a minute, and no token is refused for it. */
const CLOCK_SECONDS_MAX = 30
const SKEWED_CLOCK = new URL('./skewed-clock.ts', import.meta.url).href

/** What can be bought, and by whom: access tokens of accounts. */
export type Goods = {
  plenty: string
  scarce: string
  code: string
  admin: string
  customers: readonly string[]
}
/** A shop in one or more processes, with a provider of payments that calls back to any of them. */
export type Stage = {
  site: Site
  sandbox: Sandbox
  traffic: Traffic
  goods: Goods
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
  const ends = [() => sandbox.close(), () => balancer.close()]
  const close = async () => {
    for (const end of ends) await end()
  }
  try {
    const settings = {
      ...SETTINGS,
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
    return { site, sandbox, traffic, goods: await stock(traffic), diedAt: new Set(), clocks, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Puts on sale what everybody buys: of one thing plenty, of another a few, and a code that can be used a few times. */
async function stock({ at: [first] }: Traffic): Promise<Goods> {
  const made = async (method: string, path: string, body: object, token?: string) => {
    const answer = await first?.send(method, path, { body, ...(token !== undefined && { token }) })
    if (answer === undefined || answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer?.status} ${JSON.stringify(answer?.json)}`)
    return answer.json
  }
  const { access_token: admin } = await made('POST', '/api/auth/login', ADMIN)
  const variant = async (name: string, onHand: number) => {
    const variants = [{ sku: newId(), price: 1_250 }]
    const product = await made('POST', '/api/catalog/products', { name, slug: newId(), variants }, admin)
    const { id } = product.variants[0]
    await made('PUT', `/api/inventory/levels/${id}`, { on_hand: onHand }, admin)
    return id
  }
  const plenty = await variant('Mug', 1_000_000)
  const scarce = await variant('Last mug', SCARCE_UNITS)
  const effect = { type: 'percentage', percentage_ppm: 100_000 }
  const tenth = { name: 'A tenth off', class: 'order', needs_code: true, effect, uses_max: CODE_USES }
  const promotion = await made('POST', '/api/admin/promotions', tenth, admin)
  const { code } = await made('POST', `/api/admin/promotions/${promotion.id}/codes`, { code: 'TENTH' }, admin)
  const customers: string[] = []
  for (let number = 0; number < CUSTOMERS; number += 1) {
    const body = { email: `buyer-${number}@example.com`, password: ADMIN.password }
    customers.push((await made('POST', '/api/auth/register', body)).access_token)
  }
  return { plenty, scarce, code, admin, customers }
}
