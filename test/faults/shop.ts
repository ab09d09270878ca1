import type { AddressInfo } from 'node:net'
import { openEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts'
import { migrate } from '../../src/platform/migrate.ts'
import { openCartShop } from '../support/cart-shop.ts'

// The process that is killed: the cart behind the real gateway, on an embedded database that keeps its data in a
// folder. `node shop.ts <folder> <port> <variant id>...` prints one line of JSON as soon as it serves.
const [folder = '', port = '0', ...variantIds] = process.argv.slice(2)
const { url } = await openEmbeddedPostgres({ folder, mode: 'own' })
await migrate(url, [
  { module: 'cart', folder: new URL('../../src/modules/cart/migrations/', import.meta.url) }
])
const shop = await openCartShop({ databaseUrl: url, settings: { lineQuantityMax: 1_000_000 } })
for (const variantId of variantIds) shop.catalog.sell({ variantId })
await shop.gateway.app.listen({ host: '127.0.0.1', port: Number(port) })
const bound = shop.gateway.app.server.address() as AddressInfo
process.stdout.write(`${JSON.stringify({ port: bound.port, url })}\n`)
