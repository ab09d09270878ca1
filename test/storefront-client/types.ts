import createClient from 'openapi-fetch'
import type { components, paths } from './api.ts'

// What a client may and may not write. It is compiled and never run.

type Schemas = components['schemas']
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const isSame = <A, B>(_: Same<A, B>): void => {}

const shop = createClient<paths>({ baseUrl: '' })
const answerOf = async <T>(sent: Promise<{ data?: T }>): Promise<T> => (await sent).data as T

isSame<Schemas['CartItemResponse']['image_url'], string | null>(true)
isSame<Schemas['CartItemResponse']['attributes'], { [key: string]: string }>(true)
isSame<Schemas['CartItemResponse']['price'], number>(true)
isSame<Schemas['MergeResponse']['merge']['status'], 'merged' | 'already_merged' | 'nothing_to_merge'>(true)
isSame<Schemas['TokensResponse']['token_type'], 'Bearer'>(true)
isSame<Schemas['GuestCartResponse']['guest_cart_token'], string | undefined>(true)
isSame<Schemas['GuestCartResponse']['customer_id'], null>(true)
isSame<Schemas['AdminProductResponse']['status'], 'draft' | 'active' | 'archived'>(true)
isSame<Schemas['CategoryTreeResponse']['items'], Schemas['CategoryNodeResponse'][]>(true)
isSame<Schemas['CategoryNodeResponse']['children'], Schemas['CategoryNodeResponse'][]>(true)
isSame<Schemas['Problem']['code'], string>(true)
isSame<Schemas['Problem']['available'], unknown>(true)

export const rightUse = async () => {
  const { error } = await shop.GET('/api/cart')
  if (error) isSame<typeof error.code, string>(true)
  if (error) isSame<typeof error.errors, Schemas['Problem']['errors']>(true)
  const list = await answerOf(shop.GET('/api/products'))
  isSame<typeof list, Schemas['ProductSummaryListResponse']>(true)
  await shop.PATCH('/api/catalog/categories/{id}', { params: { path: { id: '' } }, body: { position: 1 } })
  await shop.PATCH('/api/catalog/discounts/{id}', { params: { path: { id: '' } }, body: { amount: 100 } })
  await shop.POST('/api/cart/merge', { body: { items: [] } })
  await shop.POST('/api/catalog/import', { body: 'Handle,Title', params: { query: { mode: 'best_effort' } } })
}

export const wrongUse = async () => {
  // @ts-expect-error there is no such order
  await shop.GET('/api/products', { params: { query: { sort: 'cheapest' } } })
  // @ts-expect-error the id is missing
  await shop.GET('/api/products/{id}')
  // @ts-expect-error the quantity is missing
  await shop.POST('/api/cart', { body: { variant_id: '' } })
  // @ts-expect-error there is no such strategy
  await shop.POST('/api/cart/merge', { body: { items: [], strategy: 'both' } })
  // @ts-expect-error there is no such route
  await shop.GET('/api/wishes')
  // @ts-expect-error a cart has no such member
  return (await answerOf(shop.GET('/api/cart'))).shipping
}
