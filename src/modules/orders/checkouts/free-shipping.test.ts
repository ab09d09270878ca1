import { expect, test } from 'vitest'
import { itemOf, STOCKHOLM, useCheckouts } from '../../../../test/support/checkouts.ts'
import { customer } from '../../../testing.ts'

/** Standard delivery for 4.90, express for 9.90, and a code for free shipping with these terms. */
async function useFreeShipping(terms: (methods: { standard: string; express: string }) => object) {
  const { as, made, sell, usePost } = await useCheckouts()
  const mug = await sell()
  const methods = await usePost()
  const { id } = await made('promotions', {
    name: 'Free',
    class: 'shipping',
    effect: { type: 'free_shipping' },
    needs_code: true,
    ...terms(methods)
  })
  await made(`promotions/${id}/codes`, { code: 'FREE' })
  const buyer = as(customer())
  const body = { items: [itemOf(mug)], shipping_address: STOCKHOLM, codes: ['FREE'] }
  const { json } = await buyer.post('/api/checkouts', body)
  type Option = { id: string; service: string }
  const costOf = async (service: string) => {
    const option = json.groups[0].options.find((each: Option) => each.service === service)
    const changed = await buyer.put(`/api/checkouts/${json.id}`, { ...body, shipping_option: option.id })
    const codes = changed.json.findings.map(({ code }: { code: string }) => code)
    return [changed.json.shipping_total, codes]
  }
  return { standard: await costOf('Standard'), express: await costOf('Express') }
}
const OTHER_METHOD = ['CODE_NOT_FOR_SHIPPING_METHOD']

test('free shipping without conditions makes each shipping method free', async () => {
  expect(await useFreeShipping(() => ({}))).toEqual({ standard: [0, []], express: [0, []] })
})

test('a promotion for free shipping by one method does not change the price of other methods', async () => {
  const terms = (methods: { standard: string }) => ({ shipping_method_ids: [methods.standard] })
  expect(await useFreeShipping(terms)).toEqual({ standard: [0, []], express: [990, OTHER_METHOD] })
})

test('free shipping for the cheapest option does not change the price of more expensive ones', async () => {
  const terms = () => ({ cheapest_only: true })
  expect(await useFreeShipping(terms)).toEqual({ standard: [0, []], express: [990, OTHER_METHOD] })
})
