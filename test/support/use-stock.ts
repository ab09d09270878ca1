import pg from 'pg'
import { expect, onTestFinished } from 'vitest'
import { useTestDatabaseUrl } from './database.ts'
import { openStock, type Stock } from './stock.ts'
import { emptyStockLedger, faultsOf, makeItems } from './stock-ledger.ts'

type Options = { items?: number; onHand?: number; processes?: number; queueMax?: number; url?: string }

/**
 * Writers of several processes on one database with tracked items. The ledger is checked at the end. Without a `url` the
 * database has no other stock. Tests of a file that calls `shareShops` share it, so each of them calls this function once.
 */
export async function useStock({ items = 1, onHand = 100, processes = 1, queueMax, ...given }: Options = {}) {
  const url = given.url ?? (await useTestDatabaseUrl())
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  if (given.url === undefined) await emptyStockLedger(text => client.query(text))
  const { itemIds, locationId } = await makeItems(client, items)
  const open = () => openStock(url, queueMax === undefined ? {} : { queueMax })
  const stocks = Array.from({ length: processes }, open)
  const [stock] = stocks as [Stock]
  onTestFinished(async () => {
    await Promise.all(stocks.map(each => each.close()))
    await client.end()
  })
  await stock.count(locationId, Object.fromEntries(itemIds.map(id => [id, onHand])))
  const sql = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows
  const expectConsistentStock = async () => expect(await faultsOf(client)).toEqual([])
  return {
    stock,
    stocks,
    itemIds,
    itemId: itemIds[0] as string,
    locationId,
    sql,
    client,
    expectConsistentStock,
    url
  }
}
