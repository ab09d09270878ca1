import { expect, test } from 'vitest'
import { reservedOf } from '../../../../test/support/stock-ledger.ts'
import { useStock } from '../../../../test/support/use-stock.ts'
import { newId } from '../../../kernel/ids.ts'
import { deleteOldStockRequests } from '../writer/requests-repository.ts'
import { deleteOldClosedReservations } from './repository.ts'

const limit = 1_000

test('closed reservations are deleted after their retention, and open ones are kept', async () => {
  const { stock, itemId, sql } = await useStock()
  const [closed, late, held] = [newId(), newId(), newId()]
  const lines = [{ variantId: itemId, quantity: 1 }]
  for (const owner of [closed, late, held]) await stock.buy(owner, lines, 3_600)
  for (const owner of [closed, late]) await stock.release(owner)
  await sql(
    `update inventory.reservations set expires_at = expires_at - interval '1 year',
       closed_at = closed_at - case owner when $1 then interval '31 days' else interval '29 days' end`,
    [closed]
  )
  expect(await stock.db.run(deleteOldClosedReservations, { limit })).toBe(1)
  const owners = await sql('select owner from inventory.reservations order by owner')
  expect(owners).toEqual([late, held].toSorted().map(owner => ({ owner })))

  await stock.writer.stop()
  const requests = { open: newId(), late: newId(), done: newId() }
  await sql(
    `insert into inventory.requests (id, kind, owner, lines, posted_at, done_at, outcome)
     select id::uuid, 'release', id::uuid, '{}', now() - interval '1 year', now() - hours * interval '1 hour',
       case when hours is not null then '{"kind": "done"}'::jsonb end
     from (values ($1, null), ($2, 47), ($3, 49)) as posted (id, hours)`,
    Object.values(requests)
  )
  expect(await stock.db.run(deleteOldStockRequests, { limit })).toBe(1)
  const left = await sql('select id from inventory.requests where owner = id order by id')
  expect(left).toEqual([requests.open, requests.late].toSorted().map(id => ({ id })))
})

test('a release of a deleted reservation and a repeated release change no stock', async () => {
  const { stock, itemId, client, sql, expectConsistentStock } = await useStock({ onHand: 3 })
  const [gone, other] = [newId(), newId()]
  const lines = [{ variantId: itemId, quantity: 3 }]
  const release = { kind: 'release', id: newId(), owner: gone, locationId: null } as const
  await stock.buy(gone, lines)
  await stock.db.transaction(tx => stock.claim(tx, gone, lines))
  await stock.request({ ...release, parts: null })
  await stock.buy(other, lines)
  const parts = [{ itemId, quantity: 3 }]
  for (const forget of ['inventory.requests', 'inventory.reservations']) {
    await sql(`delete from ${forget} where owner = $1`, [gone])
    for (const said of [null, parts]) await stock.request({ ...release, id: newId(), parts: said })
    await stock.request({ ...release, parts })
    await sql('delete from inventory.requests where id = $1', [release.id])
    expect(await reservedOf(client, itemId)).toMatchObject({ held: 3 })
    await expectConsistentStock()
  }
})

test('an order that has locked one of its stock reservations loses none of them to expiry', async () => {
  const { stock, itemIds, sql, client } = await useStock({ items: 2 })
  const owner = newId()
  const lines = itemIds.map(variantId => ({ variantId, quantity: 1 }))
  await stock.buy(owner, lines)
  await sql(`update inventory.reservations set expires_at = now() - interval '1 minute'`)
  await client.query('begin')
  await client.query('select from inventory.reservations where item_id = $1 for update', [itemIds[0]])
  expect(await stock.expire()).toBe(1)
  await client.query('rollback')
  await stock.db.transaction(tx => stock.claim(tx, owner, lines))
  expect(await sql('select state from inventory.reservations')).toEqual([
    { state: 'claimed' },
    { state: 'claimed' }
  ])
})
