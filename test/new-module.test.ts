import { text } from 'node:stream/consumers'
import Type from 'typebox'
import { expect, onTestFinished, test } from 'vitest'
import { standardModules } from '../src/app.ts'
import { integerSetting, settingsSection } from '../src/kernel/settings.ts'
import { defineModule } from '../src/module.ts'
import { catalogModule } from '../src/modules/catalog/index.ts'
import { createTestApp } from './support/app.ts'
import { readExposition } from './support/exposition.ts'

/** A module that only this test knows. The shop learns about it from its declaration alone. */
const wishlist = defineModule({
  name: 'wishlist',
  description: 'Wishes.',
  basePaths: ['/api/wishes'],
  settings: settingsSection('Wishes.', {
    wishes_max: integerSetting('The most wishes of one caller.', 3),
    wishes_per_minute: integerSetting('Wishes a minute and client address.', 2)
  }),
  shortNames: { CARTWRIGHT_WISHES: 'wishes_max' },
  credentialHeaders: ['x-wishlist-token'],
  requires: { catalog: catalogModule },
  uses: {},
  setup: async ({ metrics }, settings, { catalog }) => {
    const made = metrics.counter('made', 'Wishes made.', { by: ['form', 'file'] })
    const limit = { name: 'wish', perMinute: settings.wishes_per_minute }
    return {
      api: {},
      routes: tiers => {
        tiers.public.get('/wishes', { config: { class: 'browse' } }, async () => ({
          max: settings.wishes_max,
          hasProducts: !(await catalog.isEmpty())
        }))
        tiers.public.post(
          '/wishes',
          {
            config: { class: 'account', limit },
            schema: {
              body: Type.Object({ name: Type.String({ maxLength: 100 }) }, { additionalProperties: false })
            }
          },
          async request => {
            made.add({ by: 'form' })
            return { wish: request.body.name }
          }
        )
        const file = { stream: 'text/csv', bytesMax: 100 }
        tiers.public.post('/wishes/file', { config: { class: 'bulk', body: file } }, async request => {
          made.add({ by: 'file' })
          return { length: (await text(request.body)).length }
        })
      }
    }
  }
})

async function useWishes(settings: Record<string, string> = {}) {
  const app = await createTestApp(settings, undefined, [...standardModules, wishlist])
  onTestFinished(() => app.close())
  return app
}

test('a new module can add settings, a limit, a stream, a credential header and metrics, without changing other files', async () => {
  const app = await useWishes({ CARTWRIGHT_WISHES: '7', CARTWRIGHT__RATE_LIMIT__ENABLED: 'true' })
  expect((await app.request('GET', '/api/wishes')).json).toEqual({ max: 7, hasProducts: false })
  const csv = { headers: { 'content-type': 'text/csv' }, body: 'a,b,c' }
  expect((await app.request('POST', '/api/wishes/file', csv)).json).toEqual({ length: 5 })

  const wish = (headers: Record<string, string> = {}) =>
    app.request('POST', '/api/wishes', { headers, body: { name: 'a pony' } })
  // A short idempotency key, which only authenticated callers may send.
  const key = { 'idempotency-key': 'k' }
  expect((await wish(key)).json.code).toBe('GUESSABLE_IDEMPOTENCY_KEY')
  expect((await wish({ ...key, 'x-wishlist-token': 'a' })).json).toEqual({ wish: 'a pony' })
  expect((await wish()).headers['ratelimit-policy']).toBe('"wish";q=2;w=60')

  const { families } = readExposition((await app.request('GET', '/metrics')).text)
  const made = families.get('cartwright_wishlist_made_total')?.samples
  expect(made?.map(({ labels, value }) => [labels.by, value])).toEqual([
    ['form', 1],
    ['file', 1]
  ])
})

test('the example module wishlist responds like every other module when it is disabled', async () => {
  const app = await useWishes({ CARTWRIGHT__MODULES__WISHLIST__ENABLED: 'false' })
  expect((await app.request('POST', '/api/wishes/file')).json).toEqual({
    error:
      'module wishlist is disabled; enable it in the configuration file under modules.wishlist.enabled: true'
  })
})

test('a module whose required module is disabled prevents the start', async () => {
  const names = ['CATALOG', 'CART', 'ORDERS']
  const off = Object.fromEntries(names.map(name => [`CARTWRIGHT__MODULES__${name}__ENABLED`, 'false']))
  await expect(useWishes(off)).rejects.toThrow('module wishlist requires module catalog, which is disabled')
})
