import type { Answer, HttpClient } from '../support/http-client.ts'
import { type Client, expectOwn, insist, type Load } from './kill-load.ts'
import { until } from './until.ts'

const RECOVERY_MS_MAX = 60_000

type Sql = (text: string) => Promise<Record<string, unknown>[]>
type Options = {
  http: HttpClient
  /** One for all with keys, one for all without, and one for each client. */
  variantIds: readonly string[]
  /** Part of every customer's e-mail address: several loads may follow each other in one shop. */
  label: string
} & Pick<Load, 'pauseMs' | 'hangsUpOfHundred'>

/** Accounts and variants that all clients use. */
export async function openLoad(options: Options): Promise<{ load: Load; clients: Client[] }> {
  const { http, label, pauseMs, hangsUpOfHundred } = options
  const [keyed = '', unkeyed = '', ...variantIds] = options.variantIds
  const token = await register(http, `shared-${label}@example.com`)
  const clients: Client[] = []
  for (const variantId of variantIds) {
    const email = `client-${clients.length}-${label}@example.com`
    clients.push({ token: await register(http, email), variantId, own: 0 })
  }
  const load: Load = {
    http,
    shared: { token, keyed, unkeyed },
    keyed: { started: 0, acknowledged: 0 },
    unkeyed: { started: 0, acknowledged: 0 },
    acknowledged: 0,
    retried: 0,
    operations: [],
    unexpected: [],
    written: [],
    pauseMs,
    hangsUpOfHundred,
    stopping: false
  }
  return { load, clients }
}

async function register(http: HttpClient, email: string): Promise<string> {
  const body = { email, password: 'an uncommon sentence' }
  let answer: Answer | undefined
  const isRegistered = async () => {
    answer = await http.send('POST', '/api/auth/register', { body })
    return answer?.status === 201
  }
  await until(`${email} is registered`, isRegistered, RECOVERY_MS_MAX)
  return answer?.json.access_token
}

export async function someVariants(http: HttpClient, count: number): Promise<string[]> {
  const products: { id: string }[] = (await http.send('GET', '/api/products'))?.json.items
  const ids: string[] = []
  for (const { id } of products) {
    const product = await http.send('GET', `/api/products/${id}`)
    const variants: { id: string }[] = product?.json.variants ?? []
    ids.push(...variants.map(variant => variant.id))
  }
  if (ids.length < count) throw new Error(`the demo catalog shows ${ids.length} variants, not ${count}`)
  return ids.slice(0, count)
}

/** Repeats the request until a process responds. */
async function read(http: HttpClient, path: string, token: string): Promise<Answer> {
  let answer: Answer | undefined
  const isAnswered = async () => {
    answer = await http.send('GET', path, { token })
    return answer?.status === 200
  }
  await until(`${path} is answered`, isAnswered, RECOVERY_MS_MAX)
  return answer as Answer
}

export async function readShared({ http, shared }: Load): Promise<{ keyed: number; unkeyed: number }> {
  const { json } = await read(http, '/api/cart', shared.token)
  const items: { variant_id: string; quantity: number }[] = json.items
  const quantityOf = (id: string) => items.find(item => item.variant_id === id)?.quantity ?? 0
  return { keyed: quantityOf(shared.keyed), unkeyed: quantityOf(shared.unkeyed) }
}

/**
 * Returns what is wrong after all clients have stopped: all that was acknowledged must be there, exactly once, also when
 * `repeated` writes are sent again.
 */
export async function checkBooks(
  load: Load,
  clients: readonly Client[],
  repeated: Load['written'],
  sql: Sql
): Promise<string[]> {
  const wrong: string[] = []
  const settled = await readShared(load)
  if (settled.keyed !== load.keyed.acknowledged) {
    wrong.push(`in the end ${settled.keyed} were stored and ${load.keyed.acknowledged} acknowledged`)
  }
  if (settled.unkeyed < load.unkeyed.acknowledged || settled.unkeyed > load.unkeyed.started) {
    wrong.push(`without keys, in the end: ${settled.unkeyed} of ${JSON.stringify(load.unkeyed)}`)
  }
  for (const write of repeated) await insist(load, write)
  const again = await readShared(load)
  if (again.keyed !== settled.keyed) {
    wrong.push(`repeating what was acknowledged made ${settled.keyed} into ${again.keyed}`)
  }
  for (const client of clients) {
    const answer = await read(load.http, '/api/cart/count', client.token)
    try {
      expectOwn(client, answer)
    } catch (error) {
      wrong.push(String(error))
    }
  }
  const torn = await sql(`
    select c.cart_id from cart.carts c left join cart.items i on i.cart_id = c.cart_id
    group by c.cart_id having c.quantity <> coalesce(sum(i.quantity), 0) or c.distinct_count <> count(i.*)`)
  if (torn.length > 0) wrong.push(`carts whose sums are not those of their items: ${torn.length}`)
  return wrong
}
