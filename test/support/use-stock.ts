import pg from 'pg'
import { expect, onTestFinished } from 'vitest'
import { createTestDatabase } from './database.ts'
import { openStock, type Stock } from './stock.ts'
import { faultsOf, makeItems } from './stock-ledger.ts'

type Options = { items?: number; onHand?: number; processes?: number; queueMax?: number; url?: string }

/** Writers of several processes on one database with tracked items. The ledger is checked at the end. */
export async function useStock({ items = 1, onHand = 100, processes = 1, queueMax, url }: Options = {}) {
  const created = url === undefined ? await createTestDatabase() : { url, drop: async () => {} }
  const client = new pg.Client({ connectionString: created.url })
  await client.connect()
  const { itemIds, locationId } = await makeItems(client, items)
  const open = () => openStock(created.url, queueMax === undefined ? {} : { queueMax })
  const stocks = Array.from({ length: processes }, open)
  const [stock] = stocks as [Stock]
  onTestFinished(async () => {
    await Promise.all(stocks.map(each => each.close()))
    await client.end()
    await created.drop()
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
    url: created.url
  }
}
