import { openFlood, requestOf } from './flood.ts'
import { type Bench, fillShop, registerUsers, type Started, startShop, WITHOUT_LIMITS } from './shop.ts'
import { median, print } from './tables.ts'

const ADMIN = { email: 'boss@example.com', password: 'an uncommon engine poem' }
const ROUNDS = 5
const SECONDS = 3
const CONNECTIONS = 16
const USERS = 64
const VARIANTS = 1_000

/** Requests whose transactions emit an event, in a shop with a subscriber and in one without. */
export async function writers({ databaseUrl, client }: Bench): Promise<void> {
  const first = await startShop(databaseUrl, {
    ...WITHOUT_LIMITS,
    CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
    CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password
  })
  const users = await registerUsers(first.url, USERS)
  const admin = await tokenOfAdministrator(first)
  await first.stop()
  await fillShop(
    client,
    { lines: 5, variants: VARIANTS, carts: 1_000 },
    users.map(({ id }) => id)
  )
  const { rows: products } = await client.query<{ id: string }>('select id from catalog.products')
  const { rows: variants } = await client.query<{ id: string }>('select id from catalog.variants')
  const requests = {
    'PATCH /api/catalog/products/:id': ['One', 'Another'].flatMap(brand =>
      products.map(({ id }) =>
        requestOf('PATCH', `/api/catalog/products/${id}`, { token: admin, body: { brand } })
      )
    ),
    'POST /api/cart/merge': variants.map(({ id }, at) =>
      requestOf('POST', '/api/cart/merge', {
        token: users[at % USERS]?.token as string,
        body: { strategy: 'max', items: [{ variant_id: id, quantity: 1 }] }
      })
    )
  }
  const main = 'bench/writing-shop.ts'
  const alone = await startShop(databaseUrl, WITHOUT_LIMITS, { main })
  const subscribed = await startShop(databaseUrl, { ...WITHOUT_LIMITS, SUBSCRIBES: 'true' }, { main })
  const flood = openFlood()
  const perSecond = async ({ url }: Started, texts: readonly string[]) => {
    const load = { url, connections: CONNECTIONS, rate: 0, seconds: SECONDS, requests: texts }
    const { good, refused, other, failed } = await flood.run(load)
    if (refused + other + failed > 0) throw new Error(`${refused + other + failed} were not written`)
    return good / SECONDS
  }
  try {
    for (const [name, texts] of Object.entries(requests)) {
      const [without, including]: [number[], number[]] = [[], []]
      for (let round = 0; round <= ROUNDS; round += 1) {
        const rates = [await perSecond(alone, texts), await perSecond(subscribed, texts)] as const
        await client.query('delete from cartwright.jobs where id > 0')
        // The first one warms up.
        if (round === 0) continue
        without.push(rates[0])
        including.push(rates[1])
      }
      const ratio = median(including.map((each, index) => each / (without[index] as number)))
      print(
        `${name}: ${Math.round(median(without))}/s without an event, ${Math.round(median(including))}/s with one: ${ratio.toFixed(2)} (0.90 is wanted)`
      )
    }
  } finally {
    await Promise.all([alone.stop(), subscribed.stop()])
    await flood.close()
  }
}

async function tokenOfAdministrator({ url }: Started): Promise<string> {
  const response = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ADMIN)
  })
  return ((await response.json()) as { access_token: string }).access_token
}
