import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { changesOf, createProduct, useCatalog } from '../../../../test/support/catalog.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'
import { admin } from '../../../testing.ts'

shareShops()

/** Two products, and the announcements of their changes. */
async function useChanges() {
  const app = await useCatalog()
  const { db, broadcast } = app.platform
  const [one, two] = [await createProduct(app), await createProduct(app)]
  const publish = vi.fn(broadcast.publish)
  // Broadcast messages can arrive late, so only the direct notification of this process is observed.
  const changes = changesOf({ db, broadcast: { ...broadcast, publish, subscribe: () => {} } })
  const seen: (readonly string[] | 'all')[] = []
  changes.subscribe({ onChange: ids => seen.push(ids), onGap: () => {} })
  const variantsOf = (product: typeof one): string[] => product.variants.map(({ id }: { id: string }) => id)
  return { app, db, changes, publish, seen, one, two, variantsOf }
}

test('a transaction with several catalog changes raises the revision once, before the commit, with each variant once', async () => {
  const { app, db, changes, publish, seen, one, two, variantsOf } = await useChanges()
  const gone = newId()
  const { statements: sent } = await app.record(() =>
    db.transaction(async tx => {
      await changes.announce(tx, [one.id])
      await changes.announce(tx, [one.id, two.id], [gone])
      await changes.announce(tx, [], [gone])
      expect(publish).not.toHaveBeenCalled()
    })
  )
  const wanted = [...variantsOf(one), ...variantsOf(two), gone].toSorted()
  const [message, ...others] = publish.mock.calls.map(([, , payload]) => payload)
  expect([message?.split(',').toSorted(), others]).toEqual([wanted, []])
  expect(seen.map(ids => [...ids].toSorted())).toEqual([wanted])
  expect(sent.filter(name => name === 'catalog.raise_revision')).toHaveLength(1)
  expect(sent.slice(-2)).toEqual(['catalog.raise_revision', 'broadcast.notify'])
})

test('a catalog change of all offers lists no single variants', async () => {
  const { db, changes, publish, seen, one } = await useChanges()
  await db.transaction(async tx => {
    await changes.announce(tx, [one.id])
    await changes.announceCategory(tx, newId(), [])
    await changes.announce(tx, [one.id])
  })
  expect(publish.mock.calls.map(([, , payload]) => payload)).toEqual(['all'])
  expect(seen).toEqual(['all'])
})

test('a catalog change of very many variants is announced as one of all offers, and reads no more ids', async () => {
  const { app, db, changes, publish, seen, one } = await useChanges()
  await db.transaction(async tx => {
    await changes.announce(tx, [], Array.from({ length: 5_001 }, newId))
    const { statements } = await app.record(() => changes.announce(tx, [one.id]))
    expect(statements).not.toContain('catalog.list_variant_ids')
  })
  expect(publish.mock.calls.map(([, , payload]) => payload)).toEqual(['all'])
  expect(seen).toEqual(['all'])
})

test('a catalog change without products invalidates pages and no offers', async () => {
  const { db, changes, publish, seen } = await useChanges()
  await db.transaction(tx => changes.announce(tx, []))
  expect(publish.mock.calls.map(([, , payload]) => payload)).toEqual([''])
  expect(seen).toEqual([[]])
})

test('a retried transaction announces only the catalog changes of its last run, and a failed one nothing', async () => {
  const { db, changes, publish, seen, one, two, variantsOf } = await useChanges()
  const failing = db.transaction(async tx => {
    await changes.announceCategory(tx, newId(), [])
    throw new Error('changed my mind')
  })
  await expect(failing).rejects.toThrow('changed my mind')
  expect([publish.mock.calls, seen]).toEqual([[], []])

  let runs = 0
  await db.transaction(async tx => {
    runs += 1
    await changes.announce(tx, [runs === 1 ? one.id : two.id])
    if (runs === 1) throw serializationFailure()
  })
  expect(runs).toBe(2)
  expect(seen).toEqual([variantsOf(two)])
})

const serializationFailure = () => Object.assign(new pg.DatabaseError('again', 5, 'error'), { code: '40001' })

test('each change of a product emits its version, and its deletion emits none', async () => {
  const { app, one, variantsOf } = await useChanges()
  const api = app.as(admin())
  const [variant] = variantsOf(one)
  await api.patch(`/api/catalog/products/${one.id}`, { name: 'Other' })
  await api.patch(`/api/catalog/variants/${variant}`, { price: 5 })
  const { json } = await api.get(`/api/catalog/products/${one.id}`)
  await api.delete(`/api/catalog/products/${one.id}`)
  const events = await app.sql(
    `select subject_version, payload from cartwright.events where name = 'catalog.product_changed' and subject = $1 order by id`,
    [one.id]
  )
  expect(events.map(({ subject_version }) => subject_version)).toEqual([
    one.version,
    one.version + 1,
    json.version,
    null
  ])
  expect(events.at(-1)?.payload).toEqual({ product_id: one.id })
})
