import { expect, test } from 'vitest'
import { useParcels, useShipping } from '../../../../test/support/shipping.ts'

const OURS = {
  code: 'bike',
  name: 'Bike Couriers',
  tracking_url: 'https://bike.example/t?n={tracking_number}',
  number_rules: [{ mask: 'BK####', check: null }]
}

test('common carriers are built in, and others can be added, changed and deleted', async () => {
  const { admin, made } = await useShipping()
  const { items } = (await admin.get('/api/admin/shipping/carriers?limit=100')).json
  const codes = items.map(({ code }: { code: string }) => code)
  expect(codes).toEqual(codes.toSorted())
  expect(codes).toEqual(
    expect.arrayContaining(['deutsche-post', 'dhl', 'dpd', 'fedex', 'gls', 'ups', 'usps'])
  )
  for (const { tracking_url } of items) expect(tracking_url).toMatch(/^https:.*[{]tracking_number[}]/)
  const pages = [(await admin.get('/api/admin/shipping/carriers?limit=6&count=true')).json]
  pages.push((await admin.get(`/api/admin/shipping/carriers?limit=6&cursor=${pages[0].next_cursor}`)).json)
  expect([...pages[0].items, ...pages[1].items]).toEqual(items)
  expect(pages[0].total).toBe(items.length)

  const { id, version } = await made('carriers', OURS)
  const path = `/api/admin/shipping/carriers/${id}`
  expect((await admin.get(path)).json).toMatchObject({ ...OURS, version: 1 })
  expect((await admin.patch(path, { name: 'Bikes' }, { 'if-match': `"${version}"` })).json).toMatchObject({
    ...OURS,
    name: 'Bikes',
    version: 2
  })
  expect((await admin.patch(path, { name: 'ups' })).json.code).toBe('SHIPPING_CARRIER_TAKEN')
  expect((await admin.delete(path, undefined, { 'if-match': '"1"' })).json.code).toBe(
    'SHIPPING_CARRIER_STALE'
  )
  expect((await admin.delete(path)).status).toBe(204)
  expect((await admin.get(path)).json.code).toBe('SHIPPING_CARRIER_NOT_FOUND')
})

test('an invalid carrier is rejected with reasons', async () => {
  const { admin } = await useShipping()
  const faults = async (fields: object) => {
    const { status, json } = await admin.post('/api/admin/shipping/carriers', { ...OURS, ...fields })
    return [status, json.errors?.map(({ path }: { path: string }) => path)]
  }
  for (const tracking_url of [
    ...['http://a.example/{tracking_number}', 'https://a.example/', 'javascript:alert({tracking_number})'],
    ...[
      'https://{tracking_number}.example/',
      'https://a.example/"{tracking_number}',
      'https://u@a.example/{tracking_number}'
    ]
  ])
    expect(await faults({ tracking_url }), tracking_url).toEqual([400, ['body/tracking_url']])
  expect(await faults({ code: 'Bike!' })).toEqual([400, ['body/code']])
  expect(await faults({ number_rules: [{ mask: '(a+)+', check: null }] })).toEqual([
    400,
    ['body/number_rules/0/mask']
  ])
  expect((await faults({ number_rules: [{ mask: '#', check: 'luck' }] }))[0]).toBe(400)
  expect((await admin.post('/api/admin/shipping/carriers', { ...OURS, code: 'dhl' })).json.code).toBe(
    'SHIPPING_CARRIER_TAKEN'
  )
})

test('a tracking number is validated and normalized by its carrier, unless it is sent as unchecked', async () => {
  const { send, read, made } = await useParcels()
  const labelOf = async (label: object) => {
    const { orderId } = await send(label)
    const [{ carrier, tracking_number, tracking_url }] = (await read(orderId)).json.items
    return [carrier, tracking_number, tracking_url]
  }
  expect(await labelOf({ carrier: 'ups', tracking_number: '1z 5r8 939 0357567127' })).toEqual([
    ...['UPS', '1Z5R89390357567127', 'https://www.ups.com/track?tracknum=1Z5R89390357567127']
  ])
  await expect(send({ carrier: 'UPS', tracking_number: '1Z5R89390357567128' })).rejects.toMatchObject({
    code: 'SHIPPING_NUMBER_INVALID',
    details: {
      errors: [{ path: 'body/tracking_number', message: 'has a wrong check digit' }]
    }
  })
  await expect(send({ carrier: 'UPS', tracking_number: '17' })).rejects.toMatchObject({
    details: { errors: [{ message: 'does not have the format of this carrier' }] }
  })
  await expect(send({ carrier: 'Aunt Ida', tracking_number: '---' })).rejects.toMatchObject({
    code: 'SHIPPING_NUMBER_INVALID'
  })
  expect((await labelOf({ carrier: 'UPS', tracking_number: '1Z5R89390357567128', unchecked: true }))[1]).toBe(
    '1Z5R89390357567128'
  )
  // An unknown carrier is stored as entered.
  expect(await labelOf({ carrier: 'Aunt Ida', tracking_number: 'by bus, 7' })).toEqual([
    'Aunt Ida',
    'by bus, 7',
    null
  ])
  expect(await labelOf({ carrier: 'DHL' })).toEqual(['DHL', null, null])
  await made('carriers', OURS)
  expect(await labelOf({ carrier: 'bike couriers', tracking_number: 'bk 0007' })).toEqual([
    ...['Bike Couriers', 'BK0007', 'https://bike.example/t?n=BK0007']
  ])
})
