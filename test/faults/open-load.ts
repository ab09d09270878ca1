import { STOCKHOLM } from '../support/checkouts.ts'
import type { Answer, HttpClient } from '../support/http-client.ts'
import { type Client, expectOwnQuantity, type Load, writeUntilAcknowledged } from './kill-load.ts'
import { until } from './until.ts'

const RECOVERY_MS_MAX = 60_000

type Sql = (text: string) => Promise<Record<string, unknown>[]>
type Options = {
  http: HttpClient
  /** One that all clients write with keys, one that all write without keys, and one for each client. */
  variantIds: readonly string[]
  /** Part of every customer's e-mail address: several loads may follow each other in one shop. */
  label: string
} & Pick<Load, 'pauseMs' | 'hangUpPercent'>

/** Registers the shared account and one account for each client. */
export async function openLoad(options: Options): Promise<{ load: Load; clients: Client[] }> {
  const { http, label, pauseMs, hangUpPercent: hangsUpOfHundred } = options
  const [keyed = '', unkeyed = '', ...variantIds] = options.variantIds
  const token = await registerAccount(http, `shared-${label}@example.com`)
  const clients: Client[] = []
  for (const variantId of variantIds) {
    const email = `client-${clients.length}-${label}@example.com`
    clients.push({ token: await registerAccount(http, email), variantId, ownQuantity: 0 })
  }
  const load: Load = {
    http,
    shared: { token, keyed, unkeyed },
    keyed: { sent: 0, acknowledged: 0 },
    unkeyed: { sent: 0, acknowledged: 0 },
    acknowledged: 0,
    retried: 0,
    operations: [],
    unexpectedResponses: [],
    acknowledgedWrites: [],
    pauseMs,
    hangUpPercent: hangsUpOfHundred,
    isStopping: false
  }
  return { load, clients }
}

async function registerAccount(http: HttpClient, email: string): Promise<string> {
  const body = { email, password: 'an uncommon sentence' }
  let answer: Answer | undefined
  const isRegistered = async () => {
    answer = await http.send('POST', '/api/auth/register', { body })
    return answer?.status === 201
  }
  await until(`${email} is registered`, isRegistered, RECOVERY_MS_MAX)
  return answer?.json.access_token
}

/** Finds variants that the shop delivers. It does not deliver its heaviest ones. */
export async function findVariantIds(http: HttpClient, count: number): Promise<string[]> {
  const products: { id: string }[] = (await http.send('GET', '/api/products'))?.json.items
  const ids: string[] = []
  for (const { id } of products) {
    const product = await http.send('GET', `/api/products/${id}`)
    for (const variant of product?.json.variants ?? []) {
      if (await isDelivered(http, variant.id)) ids.push(variant.id)
      if (ids.length === count) return ids
    }
  }
  throw new Error(`the first page of the demo catalog has ${ids.length} delivered variants, not ${count}`)
}

async function isDelivered(http: HttpClient, variant_id: string): Promise<boolean> {
  const items = [{ variant_id, quantity: 1 }]
  const body = { items, email: 'visitor@example.com', shipping_address: STOCKHOLM }
  return (await http.send('POST', '/api/checkouts/guest', { body }))?.json.ready === true
}

/** Repeats the request until a process responds. */
async function getUntilAnswered(http: HttpClient, path: string, token: string): Promise<Answer> {
  let answer: Answer | undefined
  const isAnswered = async () => {
    answer = await http.send('GET', path, { token })
    return answer?.status === 200
  }
  await until(`${path} is answered`, isAnswered, RECOVERY_MS_MAX)
  return answer as Answer
}

export async function readSharedCart({ http, shared }: Load): Promise<{ keyed: number; unkeyed: number }> {
  const { json } = await getUntilAnswered(http, '/api/cart', shared.token)
  const items: { variant_id: string; quantity: number }[] = json.items
  const quantityOf = (id: string) => items.find(item => item.variant_id === id)?.quantity ?? 0
  return { keyed: quantityOf(shared.keyed), unkeyed: quantityOf(shared.unkeyed) }
}

/**
 * Lists lost and duplicate writes after all clients have stopped. Each acknowledged write must be stored exactly once,
 * also after the `repeated` writes are sent again.
 */
export async function findWrongWrites(
  load: Load,
  clients: readonly Client[],
  repeated: Load['acknowledgedWrites'],
  sql: Sql
): Promise<string[]> {
  const wrong: string[] = []
  const stored = await readSharedCart(load)
  if (stored.keyed !== load.keyed.acknowledged) {
    wrong.push(`in the end ${stored.keyed} were stored and ${load.keyed.acknowledged} acknowledged`)
  }
  if (stored.unkeyed < load.unkeyed.acknowledged || stored.unkeyed > load.unkeyed.sent) {
    wrong.push(`without keys, in the end: ${stored.unkeyed} of ${JSON.stringify(load.unkeyed)}`)
  }
  for (const write of repeated) await writeUntilAcknowledged(load, write)
  const storedAgain = await readSharedCart(load)
  if (storedAgain.keyed !== stored.keyed) {
    wrong.push(`repeating acknowledged writes turned ${stored.keyed} into ${storedAgain.keyed}`)
  }
  for (const client of clients) {
    const answer = await getUntilAnswered(load.http, '/api/cart/count', client.token)
    try {
      expectOwnQuantity(client, answer)
    } catch (error) {
      wrong.push(String(error))
    }
  }
  const cartsWithWrongSums = await sql(`
    select c.cart_id from cart.carts c left join cart.items i on i.cart_id = c.cart_id
    group by c.cart_id having c.quantity <> coalesce(sum(i.quantity), 0) or c.distinct_count <> count(distinct i.variant_id)`)
  if (cartsWithWrongSums.length > 0)
    wrong.push(`carts whose sums differ from their items: ${cartsWithWrongSums.length}`)
  return wrong
}
