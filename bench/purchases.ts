/**
 * What whole purchases cost: from the cart until the last event, mail and job of the order is handled. Statements, buffers and
 * WAL are exact on any machine. CPU can be compared within a run only.
 */
import {
  createPurchases,
  PURCHASE_PAYMENTS,
  PURCHASE_SETTINGS,
  type PurchasePayment
} from '../test/support/purchases.ts'
import { openStatementCounter, sumCosts } from '../test/support/statement-counts.ts'
import { cpuMicroseconds } from './cpu.ts'
import { type Bench, countAll, fillShop, openBench, registerUsers, type Started, startShop } from './shop.ts'
import { median, print } from './tables.ts'

const ROUNDS = 5
const PURCHASES = 20
const WARM_PURCHASES = 40
const CUSTOMERS = 20
const VARIANTS = 1_000

const KINDS = (['guest', 'customer'] as const).flatMap(buyer =>
  (Object.keys(PURCHASE_PAYMENTS) as PurchasePayment[]).map(method => ({
    name: `${buyer}, ${method}`,
    buyer,
    method
  }))
)

type Counter = Awaited<ReturnType<typeof openStatementCounter>>
/** The mean of one purchase. */
type Cost = { statements: number; buffers: number; walBytes: number; programCpu: number; databaseCpu: number }

/** Prints the costs of each kind of purchase, medians of rounds in turn. `post` creates the shipping rates. */
export async function comparePurchases(
  settings: Readonly<Record<string, string>>,
  openPost: (shop: Started) => Promise<{ adminToken: string }>
): Promise<void> {
  const bench = await openBench({ countsStatements: true })
  const counter = await openStatementCounter(bench.databaseUrl)
  try {
    const setting = await open(bench, counter, settings, openPost)
    const { buy, untilHandled } = setting.purchases
    for (const { buyer, method } of KINDS)
      for (let count = 0; count < WARM_PURCHASES; count += 1) await buy(buyer, method)
    await untilHandled()
    // Later statements are planned for what there is, as in a shop that has been open for a while.
    await counter.sql('vacuum analyze')
    const measured = new Map<string, Cost[]>(KINDS.map(({ name }) => [name, []]))
    for (let round = 0; round < ROUNDS; round += 1)
      for (const { name, buyer, method } of KINDS)
        measured.get(name)?.push(await costOf(setting, () => buy(buyer, method)))
    report(measured)
    await setting.shop.stop()
  } finally {
    await counter.close()
    await bench.close()
  }
}

async function open(
  bench: Bench,
  counter: Counter,
  settings: Readonly<Record<string, string>>,
  openPost: (shop: Started) => Promise<{ adminToken: string }>
) {
  const all = { ...settings, ...PURCHASE_SETTINGS }
  const first = await startShop(bench.databaseUrl, all)
  const { adminToken } = await openPost(first)
  const customers = await registerUsers(first.url, CUSTOMERS)
  await first.stop()
  await fillShop(bench.client, { variants: VARIANTS, carts: 0, lines: 0 }, [])
  await countAll(bench.client)
  const variantIds = (await counter.sql('select id from catalog.variants')).map(({ id }) => id)
  const shop = await startShop(bench.databaseUrl, all)
  const customerTokens = customers.map(({ token }) => token)
  const { sql } = counter
  const purchases = createPurchases({ url: shop.url, sql, adminToken, customerTokens, variantIds })
  // The connection that asks whether everything is handled is no cost of a purchase.
  const [observer] = await sql('select pg_backend_pid() as pid')
  const databasePids = () => bench.databasePids().filter(pid => pid !== observer?.pid)
  return { counter, shop, purchases, databasePids }
}
type Setting = Awaited<ReturnType<typeof open>>

async function costOf(
  { databasePids, shop, counter, purchases }: Setting,
  buy: () => Promise<void>
): Promise<Cost> {
  await counter.reset()
  const pids = databasePids()
  const [program, database] = [cpuMicroseconds([shop.pid]), cpuMicroseconds(pids)]
  for (let count = 0; count < PURCHASES; count += 1) {
    await buy()
    await purchases.untilHandled()
  }
  const { calls, buffers, walBytes } = sumCosts(await counter.read())
  const mean = (sum: number) => sum / PURCHASES
  return {
    statements: mean(calls),
    buffers: mean(buffers),
    walBytes: mean(walBytes),
    programCpu: mean(cpuMicroseconds([shop.pid]) - program),
    databaseCpu: mean(cpuMicroseconds(pids) - database)
  }
}

function report(measured: Map<string, Cost[]>): void {
  print(
    '| purchase | statements | buffers | WAL, kB | CPU of program + database, ms | to pending |\n|---|---:|---:|---:|---:|---:|'
  )
  const basis = new Map<string, number>()
  for (const [name, costs] of measured) {
    const of = (field: keyof Cost) => median(costs.map(cost => cost[field]))
    const cpu = median(costs.map(({ programCpu, databaseCpu }) => programCpu + databaseCpu))
    const buyer = name.split(',')[0] ?? ''
    if (!basis.has(buyer)) basis.set(buyer, cpu)
    print(
      `| ${name} | ${of('statements').toFixed(1)} | ${of('buffers').toFixed(0)} | ${(of('walBytes') / 1_000).toFixed(1)} | ` +
        `${(of('programCpu') / 1_000).toFixed(2)} + ${(of('databaseCpu') / 1_000).toFixed(2)} | ` +
        `${(cpu / (basis.get(buyer) ?? Number.NaN)).toFixed(2)} |`
    )
  }
}
