import { expect, test } from 'vitest'
import { usePricing } from '../../../../test/support/pricing.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

const PROMOTIONS = '/api/admin/promotions'
const TENTH = { name: 'A tenth off', class: 'line', effect: { type: 'percentage', percentage_ppm: 100_000 } }

async function useUsed() {
  const shop = await usePricing()
  const { id } = (await shop.admin.post(PROMOTIONS, TENTH)).json
  const path = `${PROMOTIONS}/${id}`
  const redeem = async (code?: string, owner = newId()) => {
    const redemption = { promotionId: id, ...(code !== undefined && { code }) }
    await shop.redeem(owner, [redemption], newId())
    return owner
  }
  const release = (owner: string) => shop.db.transaction(tx => shop.pricing.release(tx, owner))
  return { ...shop, id, path, redeem, release }
}

test('redemptions of a promotion are listed, with the remaining uses of the promotion and its codes', async () => {
  const { admin, path, redeem, release } = await useUsed()
  await admin.patch(path, { uses_max: 10 })
  const { json: code } = await admin.post(`${path}/codes`, { code: 'TENTH', uses_max: 2 })
  // Ids of one millisecond are in no order.
  const owners = [newId(), newId(), newId()].sort()
  for (const [index, code] of ['TENTH', undefined, 'TENTH'].entries()) await redeem(code, owners[index])
  const { json } = await admin.get(`${path}/redemptions?count=true&limit=2`)
  expect(json).toMatchObject({
    total: 3,
    items: [
      { owner: owners[2], code: 'TENTH' },
      { owner: owners[1], code: null }
    ]
  })
  const next = (await admin.get(`${path}/redemptions?cursor=${json.next_cursor}`)).json
  expect(next.items).toMatchObject([{ owner: owners[0] }])
  const left = async () => [
    (await admin.get(path)).json.uses_left,
    (await admin.get(`${path}/codes`)).json.items[0].uses_left
  ]
  expect(await left()).toEqual([7, 0])
  await expect(redeem('TENTH')).rejects.toMatchObject({ code: 'PRICING_USED_UP' })
  await release(owners[0] as string)
  expect(await left()).toEqual([8, 1])
  expect((await admin.patch(path, { uses_max: 1 })).json.code).toBe('PRICING_USES_TAKEN')
  expect((await admin.patch(path, { uses_max: 2 })).json).toMatchObject({ uses_max: 2, uses_left: 0 })
  expect((await admin.patch(`${path}/codes/${code.id}`, { uses_max: 1 })).json.uses_left).toBe(0)
  expect((await admin.get(`${PROMOTIONS}/${newId()}/redemptions`)).status).toBe(404)
})

test('promotion uses from before a limit was set count against the limit', async () => {
  const { admin, path, redeem } = await useUsed()
  const { json: code } = await admin.post(`${path}/codes`, { code: 'OPEN' })
  for (let time = 0; time < 3; time += 1) await redeem('OPEN')
  expect((await admin.patch(path, { uses_max: 2 })).json.code).toBe('PRICING_USES_TAKEN')
  expect((await admin.patch(path, { uses_max: 4 })).json.uses_left).toBe(1)
  expect((await admin.patch(`${path}/codes/${code.id}`, { uses_max: 5 })).json.uses_left).toBe(2)
  await redeem('OPEN')
  await expect(redeem()).rejects.toMatchObject({ code: 'PRICING_USED_UP' })
})

test("a promotion's limit that is set while orders are placed counts each order once", async () => {
  const { id, admin, path, redeem, sql } = await useUsed()
  const orders = Array.from({ length: 40 }, () => redeem().catch(() => undefined))
  await admin.patch(path, { uses_max: 1_000 })
  await Promise.all(orders)
  const { uses_left } = (await admin.get(path)).json
  const [row] = await sql('select count(*)::int as used from pricing.redemptions where promotion_id = $1', [
    id
  ])
  expect(1_000 - uses_left).toBe(row?.used)
})

test('a promotion cannot be deleted while an order uses it', async () => {
  const { admin, path, redeem, release } = await useUsed()
  const owner = await redeem()
  expect((await admin.delete(path)).json.code).toBe('PRICING_PROMOTION_USED')
  await release(owner)
  expect((await admin.delete(path)).status).toBe(204)
  await expect(redeem()).rejects.toMatchObject({ code: 'PRICING_PROMOTION_GONE' })
})
